import path from "node:path";
import validatePackageName from "validate-npm-package-name";
import { UsageError } from "../errors.ts";

/** Where a project goes and what it is called; the directory and the package name are different things. */
export interface Target {
  /** Absolute path of the project. */
  directory: string;
  /** The package name, or nothing where the directory's name gives none and a person has to choose. */
  name: string | undefined;
  /** What was changed about the name that was typed, to be shown. */
  note: string | undefined;
}

/** Device names that Windows keeps, with and without an ending (Win32, "Naming Files, Paths, and Namespaces"). */
const windowsDevice = /^(con|prn|aux|nul|com\d|lpt\d)(\..*)?$/i;

/** npm's limit for a package name, in characters. */
const longestName = 214;

/**
 * Turns what a person typed for the directory into a path and a package name. A path is allowed (`../x`, `/tmp/x`,
 * `a/b`); its last part is the name. `@scope/name` is a package name whose folder is `name`.
 *
 * @param exists whether a path is there already: an existing folder keeps the name it has.
 * @throws UsageError for a name that no folder or package should have.
 */
export function resolveTarget(
  typed: string,
  cwd: string,
  packageName: string | undefined,
  exists: (path: string) => boolean,
): Target {
  refuseUnusable(typed);
  if (packageName !== undefined) refuseBadPackageName(packageName);

  const here = /^\.[/\\]?$/.test(typed);
  const place = here ? cwd : typed.replace(/(?:[\\/]\.?)+$/, "");
  const scoped = /^(@[^/\\]+)\/([^/\\]+)$/.exec(place);
  const parent = scoped ? cwd : path.resolve(cwd, path.dirname(place));
  const last = scoped?.[2] ?? path.basename(place);
  refuseReserved(last);

  const normal = normalise(last);
  const typedPath = path.join(parent, last);
  const keep = normal === undefined || here || exists(typedPath);
  const folder = keep ? last : normal;
  const scope = scoped ? normalise(scoped[1] as string) : undefined;
  if (scoped && !scope)
    throw new UsageError(`"${scoped[1]}" cannot be a scope`, "Use letters and digits after the @.");
  const name = packageName ?? (normal && (scope ? `@${scope}/${normal}` : normal));
  if (name !== undefined) refuseBadPackageName(name);

  const notes: string[] = [];
  if (folder !== last) notes.push(`"${last}" became the folder "${folder}"`);
  if (!packageName && name && name !== (scoped ? `${scoped[1]}/${last}` : last))
    notes.push(`the package is "${name}"`);
  return { directory: path.join(parent, folder), name, note: notes.join("; ") || undefined };
}

/**
 * Says what is wrong with a package name, or nothing.
 */
export function packageNameProblem(name: string): string | undefined {
  const { validForNewPackages, errors, warnings } = validatePackageName(name);
  if (validForNewPackages) return undefined;
  const reason = [...(errors ?? []), ...(warnings ?? [])][0] ?? "npm does not accept it";
  return `"${shortened(name)}" cannot be a package name: ${reason}`;
}

/** Lower-case letters, digits, dots and dashes; nothing where other alphabets would have to be guessed at. */
function normalise(part: string): string | undefined {
  if (/[^\p{ASCII}]/u.test(part)) return undefined;
  const name = part
    .toLowerCase()
    .replace(/[^a-z\d._-]+/g, "-")
    .replace(/^[._-]+|-+$/g, "");
  return name || undefined;
}

function refuseUnusable(typed: string): void {
  if (typed.trim() === "")
    throw new UsageError("the directory's name is empty", "Name a directory, or . for this one.");
  if (/\p{Cc}/u.test(typed))
    throw new UsageError("the directory's name has a control character or a line break");
}

function refuseReserved(last: string): void {
  if (last.length > longestName) {
    throw new UsageError(`the name has ${last.length} characters; at most ${longestName} are allowed`);
  }
  if (last === "" || last === "..")
    throw new UsageError("a project needs a directory with a name of its own");
  if (windowsDevice.test(last)) {
    throw new UsageError(`"${last}" cannot be a folder's name on Windows`, "Choose another name.");
  }
  if (/^(node_modules|favicon\.ico)$/i.test(last)) {
    throw new UsageError(
      `"${last}" cannot be a project's name; tools give it a meaning of its own`,
      "Choose another name.",
    );
  }
}

function refuseBadPackageName(name: string): void {
  const problem = packageNameProblem(name);
  if (problem) throw new UsageError(problem, "Pass a valid one with --name, as in --name my-server.");
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
