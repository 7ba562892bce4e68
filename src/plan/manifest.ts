import { hash } from "node:crypto";
import packageJson from "../../package.json" with { type: "json" };
import type { Answers } from "../options/declaration.ts";

/** Where a project records how it was made. It is committed, so that later versions can tell what has changed. */
export const manifestPath = ".create-mcp-server.json";

export interface Manifest {
  /** The version of the templates that made the project. */
  readonly templateVersion: string;
  readonly answers: Answers;
  /** A hash of each generated file. */
  readonly files: Readonly<Record<string, string>>;
}

/** Records the answers, the template version and a hash of each file. */
export function composeManifest(answers: Answers, files: ReadonlyMap<string, string>): Manifest {
  const paths = [...files.keys()].sort();
  return {
    templateVersion: packageJson.version,
    answers,
    files: Object.fromEntries(paths.map((path) => [path, contentHash(files.get(path) as string)])),
  };
}

/** A hash that does not change when git or an editor changes the line endings. */
export function contentHash(content: string): string {
  return `sha256-${hash("sha256", content.replaceAll("\r\n", "\n"), "base64url")}`;
}
