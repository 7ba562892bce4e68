import fs from "node:fs";
import path from "node:path";
import { CommandError } from "../errors.ts";
import { contentHash } from "../plan/manifest.ts";
import { exists, stats } from "./file-system-failure.ts";
import { isProjectPath } from "./project-file.ts";

/** What is about to be moved into a directory that exists: enough to undo it, whatever kills the run. */
export interface Journal {
  /** The hash of each file, by its path relative to the target. */
  readonly files: Readonly<Record<string, string>>;
  /** The folders that did not exist before, relative to the target; outer ones first. */
  readonly folders: readonly string[];
}

const journalFile = "journal.json";
/** A project has some dozens of files; what is larger than this was not written by us. */
const largestJournal = 256 * 1024;
/** Where in a staging folder the files wait. */
export const projectFolder = "project";

/** Writes the journal; once it stands, the move has begun. */
export function writeJournal(staging: string, journal: Journal): void {
  const draft = path.join(staging, `${journalFile}.draft`);
  fs.writeFileSync(draft, JSON.stringify(journal));
  fs.renameSync(draft, path.join(staging, journalFile));
}

/**
 * Reads the journal that a killed run left, or nothing where that run had not begun to move. It stands in a folder
 * that anyone may have written to, so a path that leads out of the target is refused.
 *
 * @throws CommandError when it cannot be trusted.
 */
export async function readJournal(staging: string): Promise<Journal | undefined> {
  const file = path.join(staging, journalFile);
  if (!exists(file)) return undefined;
  const z = await import("zod/mini");
  const inside = z.string().check(z.refine(isProjectPath));
  const schema = z.object({ files: z.record(inside, z.string()), folders: z.array(inside) });
  const result = schema.safeParse(readJson(file));
  if (result.success) return result.data;
  throw new CommandError(
    `${file} was left by an earlier run and cannot be read`,
    `Look at what is in ${path.dirname(staging)}, then remove ${staging}.`,
  );
}

/** What a JSON file says, or nothing where it is no file, too large, or no JSON. */
function readJson(file: string): unknown {
  const stat = fs.lstatSync(file);
  if (!stat.isFile() || stat.size > largestJournal) return undefined;
  const text = fs.readFileSync(file, "utf8");
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Takes back a move that was cut short. Only files that were moved, and are still what was moved, are removed: one that
 * a person has put there or changed since is theirs.
 */
export function undoMove(target: string, staging: string, journal: Journal): void {
  for (const [file, hash] of Object.entries(journal.files)) {
    if (exists(path.join(staging, projectFolder, file))) continue;
    if (isUnchanged(target, file, hash)) fs.unlinkSync(path.join(target, file));
  }
  for (const folder of [...journal.folders].reverse()) {
    if (reach(target, folder)) removeIfEmpty(path.join(target, folder));
  }
}

function removeIfEmpty(folder: string): void {
  try {
    fs.rmdirSync(folder);
  } catch {
    // One that is not empty holds something of a person.
  }
}

function isUnchanged(target: string, file: string, hash: string): boolean {
  const stat = reach(target, file);
  // Only a plain file is read: a pipe would never end.
  if (!stat?.isFile()) return false;
  return contentHash(fs.readFileSync(path.join(target, file), "utf8")) === hash;
}

/** What stands at a path that is reached without following a link, which could lead anywhere. */
function reach(target: string, file: string): fs.Stats | undefined {
  const parts = file.split("/");
  for (const [index] of parts.entries()) {
    const stat = stats(path.join(target, ...parts.slice(0, index + 1)));
    if (!stat || stat.isSymbolicLink()) return undefined;
    if (index === parts.length - 1) return stat;
  }
  return undefined;
}
