import fs from "node:fs/promises";
import path from "node:path";
import { CommandError } from "../errors.ts";
import { exists, fileSystemFailure, isCode } from "./file-system-failure.ts";
import { projectFolder, readJournal, undoMove } from "./journal.ts";
import { takeOver } from "./owner.ts";
import { discarded, releaseStaging, remove, removeAbandoned, stagingName, stagingPlaces } from "./staging.ts";

/** Where a project goes, as it is on the disk. */
export interface Target {
  /** By its real path, as far as it exists: one target has one name, whichever links lead to it. */
  readonly directory: string;
  /** The directory itself, or the nearest one above it that exists. */
  readonly existing: string;
}

/** What a directory may hold and still count as empty. */
const countsAsEmpty = new Set([".git", ".DS_Store", "Thumbs.db"]);

/** How many entries of a full directory are named. */
const namedEntries = 3;

/**
 * Looks whether a directory can take a project, and changes nothing. What a killed run left there is not counted: the
 * run that writes takes it back first.
 *
 * @throws CommandError when the directory is not empty, may not be written to, or is no directory.
 */
export async function inspectTarget(directory: string): Promise<void> {
  try {
    const target = await findTarget(directory);
    await refuseUnwritable(target.existing);
    const leftover = path.join(target.directory, stagingName(target.directory));
    if (!(await exists(leftover))) await refuseNonEmpty(target, directory);
  } catch (error) {
    throw fileSystemFailure(error, directory);
  }
}

/**
 * Makes sure that a directory can take a project: undoes what a killed run left there, then looks at what is left.
 *
 * @returns the target, and a sentence about what was undone, or nothing.
 * @throws CommandError as `inspectTarget`, and when the directory is in the hands of another run.
 */
export async function openTarget(
  directory: string,
): Promise<{ readonly target: Target; readonly recovered: string | undefined }> {
  try {
    const target = await findTarget(directory);
    await refuseUnwritable(target.existing);
    const recovered = await recover(target);
    await refuseNonEmpty(target, directory);
    return { target, recovered };
  } catch (error) {
    throw fileSystemFailure(error, directory);
  }
}

/**
 * Finds out how much of a directory exists.
 *
 * @throws CommandError when something in its path is no directory.
 */
async function findTarget(directory: string): Promise<Target> {
  const absolute = path.resolve(directory);
  let existing = absolute;
  while (!(await exists(existing)) && path.dirname(existing) !== existing) existing = path.dirname(existing);
  const stat = await fs.stat(existing).catch((error: unknown) => {
    if (!isCode(error, "ENOENT")) throw error;
  });
  if (!stat?.isDirectory()) {
    const what = stat ? "a file, not a directory" : "a link that leads nowhere";
    throw new CommandError(`${existing} is ${what}`, "Choose another directory.");
  }
  const real = await fs.realpath(existing);
  return { directory: path.join(real, path.relative(existing, absolute)), existing: real };
}

async function refuseUnwritable(existing: string): Promise<void> {
  try {
    await fs.access(existing, fs.constants.W_OK | fs.constants.X_OK);
  } catch (error) {
    throw fileSystemFailure(error, existing);
  }
}

async function refuseNonEmpty({ directory, existing }: Target, asked: string): Promise<void> {
  if (existing !== directory) return;
  const entries = await fs.readdir(directory);
  const foreign = entries.filter(
    (entry) => !countsAsEmpty.has(entry) && !entry.startsWith(stagingName(directory)),
  );
  if (foreign.length === 0) return;
  const named = foreign.slice(0, namedEntries).join(", ");
  throw new CommandError(
    `${asked} is not empty: it has ${named}${foreign.length > namedEntries ? ", ..." : ""}`,
    "Choose another directory, or empty this one.",
  );
}

async function recover({ directory, existing }: Target): Promise<string | undefined> {
  await removeAbandoned(path.join(existing, stagingName(directory)));
  let recovered: string | undefined;
  const places = await Promise.all(
    stagingPlaces(directory).map(async (staging) => {
      if (await exists(discarded(staging))) await remove(discarded(staging));
      return (await exists(staging)) ? [staging] : [];
    }),
  );
  for (const staging of places.flat()) {
    await takeOver(staging);
    // Only in the target itself are files moved one by one; elsewhere a journal is not ours.
    if (path.dirname(staging) === directory) await undo(directory, staging);
    await releaseStaging(staging);
    recovered = "what an earlier run left unfinished here was removed";
  }
  return recovered;
}

async function undo(directory: string, staging: string): Promise<void> {
  const journal = await readJournal(staging);
  // Nothing waits any more: the earlier run had moved everything and only failed to tidy up.
  if (journal && (await anyFileIn(path.join(staging, projectFolder)))) {
    await undoMove(directory, staging, journal);
  }
}

async function anyFileIn(folder: string): Promise<boolean> {
  const entries = await fs.readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.some((entry) => entry.isFile());
}
