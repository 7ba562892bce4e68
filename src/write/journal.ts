import fs from "node:fs/promises";
import path from "node:path";
import { CommandError } from "../errors.ts";
import { contentHash } from "../plan/manifest.ts";

/** What is about to be moved into a directory that exists: enough to undo it, whatever kills the run. */
export interface Journal {
  /** The hash of each file, by its path relative to the target. */
  readonly files: Readonly<Record<string, string>>;
  /** The folders that did not exist before, relative to the target; outer ones first. */
  readonly folders: readonly string[];
}

const journalFile = "journal.json";
/** Where in a staging folder the files wait. */
export const projectFolder = "project";

/** Writes the journal; once it stands, the move has begun. */
export async function writeJournal(staging: string, journal: Journal): Promise<void> {
  const draft = path.join(staging, `${journalFile}.draft`);
  await fs.writeFile(draft, JSON.stringify(journal));
  await fs.rename(draft, path.join(staging, journalFile));
}

/**
 * Reads the journal that a killed run left, or nothing where that run had not begun to move. It stands in a folder
 * that anyone may have written to, so a path that leads out of the target is refused.
 *
 * @throws CommandError when it cannot be trusted.
 */
export async function readJournal(staging: string): Promise<Journal | undefined> {
  const file = path.join(staging, journalFile);
  const text = await fs.readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const z = await import("zod/mini");
  const inside = z.string().check(z.refine(isInside));
  const schema = z.object({ files: z.record(inside, z.string()), folders: z.array(inside) });
  const result = schema.safeParse(parseJson(text));
  if (result.success) return result.data;
  throw new CommandError(
    `${file} was left by an earlier run and cannot be read`,
    `Look at what is in ${path.dirname(staging)}, then remove ${staging}.`,
  );
}

/** What a JSON text says, or nothing where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Takes back a move that was cut short. Only files that are still what was moved are removed: one that a person has
 * changed since is theirs.
 */
export async function undoMove(target: string, journal: Journal): Promise<void> {
  for (const [file, hash] of Object.entries(journal.files)) {
    const moved = path.join(target, file);
    if (await isReachable(target, file)) {
      const content = await fs.readFile(moved, "utf8");
      if (contentHash(content) === hash) await fs.unlink(moved);
    }
  }
  for (const folder of [...journal.folders].reverse()) {
    if (await isReachable(target, folder)) await fs.rmdir(path.join(target, folder)).catch(() => {});
  }
}

/** A relative path with forward slashes that stays below where it starts. */
export function isInside(file: string): boolean {
  return (
    file !== "" &&
    !path.isAbsolute(file) &&
    !/[\\:\0]/.test(file) &&
    !file.split("/").some((part) => /^\.{0,2}$/.test(part))
  );
}

/** Whether a path exists and is reached without following a link, which could lead anywhere. */
async function isReachable(target: string, file: string): Promise<boolean> {
  let at = target;
  for (const part of file.split("/")) {
    at = path.join(at, part);
    const stat = await fs.lstat(at).catch(() => undefined);
    if (!stat || stat.isSymbolicLink()) return false;
  }
  return true;
}
