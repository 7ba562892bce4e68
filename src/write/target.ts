import fs from "node:fs/promises";
import path from "node:path";
import { CommandError } from "../errors.ts";
import { projectFolder, readJournal, undoMove } from "./journal.ts";
import { isCode, refuseLiveOwner, removeAbandonedCandidates, stagingName, stagingPlaces } from "./staging.ts";

/** What a directory may hold and still count as empty. */
const countsAsEmpty = new Set([".git", ".DS_Store", "Thumbs.db"]);

/** How many entries of a full directory are named. */
const namedEntries = 3;

/**
 * Makes sure that a directory can take a project: undoes what a killed run left there, then looks at what is left.
 *
 * @returns a sentence about what was undone, or nothing.
 * @throws CommandError when the directory is not empty, is in the hands of another run, or is no directory.
 */
export async function prepareTarget(directory: string): Promise<string | undefined> {
  await refuseFileInTheWay(directory);
  const recovered = await recover(directory);
  const entries = await fs.readdir(directory).catch((error: unknown) => {
    if (isCode(error, "ENOENT")) return [];
    throw error;
  });
  const foreign = entries.filter(
    (entry) => !countsAsEmpty.has(entry) && !entry.startsWith(stagingName(directory)),
  );
  if (foreign.length === 0) return recovered;
  const named = foreign.slice(0, namedEntries).join(", ");
  throw new CommandError(
    `${directory} is not empty: it has ${named}${foreign.length > namedEntries ? ", ..." : ""}`,
    "Choose another directory, or empty this one.",
  );
}

/** The nearest folder above a path (or the path itself) that exists. */
export async function nearestExisting(directory: string): Promise<string> {
  let at = directory;
  while (!(await exists(at)) && path.dirname(at) !== at) at = path.dirname(at);
  return at;
}

async function refuseFileInTheWay(directory: string): Promise<void> {
  const existing = await nearestExisting(directory);
  const stat = await fs.stat(existing).catch(() => undefined);
  if (stat?.isDirectory()) return;
  const what = stat ? "a file, not a directory" : "a link that leads nowhere";
  throw new CommandError(`${existing} is ${what}`, "Choose another directory.");
}

async function recover(directory: string): Promise<string | undefined> {
  let recovered: string | undefined;
  await removeAbandonedCandidates(path.join(await nearestExisting(directory), stagingName(directory)));
  const places = await Promise.all(
    stagingPlaces(directory).map(async (at) => ((await exists(at)) ? [at] : [])),
  );
  for (const staging of places.flat()) {
    await refuseLiveOwner(staging);
    const journal = await readJournal(staging);
    const waiting = journal ? await anyFileIn(path.join(staging, projectFolder)) : false;
    if (journal && waiting) await undoMove(directory, journal);
    await fs.rm(staging, { recursive: true });
    recovered = "what an earlier run left unfinished here was removed";
  }
  return recovered;
}

/** Nothing waits any more: the earlier run had moved everything and only failed to tidy up. */
async function anyFileIn(folder: string): Promise<boolean> {
  const entries = await fs.readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.some((entry) => entry.isFile());
}

async function exists(at: string): Promise<boolean> {
  return fs.lstat(at).then(
    () => true,
    (error: unknown) => !isCode(error, "ENOENT", "ENOTDIR"),
  );
}
