import fs from "node:fs";
import path from "node:path";
import { CommandError } from "../errors.ts";
import { exists, fileSystemFailure, stats } from "./file-system-failure.ts";
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
export function inspectTarget(directory: string): void {
  try {
    const target = findTarget(directory);
    refuseUnwritable(target.existing);
    const leftover = path.join(target.directory, stagingName(target.directory));
    if (!exists(leftover)) refuseNonEmpty(target, directory);
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
    const target = findTarget(directory);
    refuseUnwritable(target.existing);
    const recovered = await recover(target);
    refuseNonEmpty(target, directory);
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
function findTarget(directory: string): Target {
  const absolute = path.resolve(directory);
  let existing = absolute;
  while (!exists(existing) && path.dirname(existing) !== existing) existing = path.dirname(existing);
  const stat = fs.statSync(existing, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) {
    const what = stat ? "a file, not a directory" : "a link that leads nowhere";
    throw new CommandError(`${existing} is ${what}`, "Choose another directory.");
  }
  const real = fs.realpathSync.native(existing);
  return { directory: path.join(real, path.relative(existing, absolute)), existing: real };
}

function refuseUnwritable(existing: string): void {
  try {
    fs.accessSync(existing, fs.constants.W_OK | fs.constants.X_OK);
  } catch (error) {
    throw fileSystemFailure(error, existing);
  }
}

function refuseNonEmpty({ directory, existing }: Target, asked: string): void {
  if (existing !== directory) return;
  const entries = fs.readdirSync(directory);
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
  removeAbandoned(path.join(existing, stagingName(directory)));
  let recovered: string | undefined;
  for (const staging of stagingPlaces(directory)) {
    if (exists(discarded(staging))) remove(discarded(staging));
    if (!exists(staging)) continue;
    takeOver(staging);
    // Only in the target itself are files moved one by one; elsewhere a journal is not ours.
    if (path.dirname(staging) === directory) await undo(directory, staging);
    releaseStaging(staging);
    recovered = "what an earlier run left unfinished here was removed";
  }
  return recovered;
}

async function undo(directory: string, staging: string): Promise<void> {
  const journal = await readJournal(staging);
  // Nothing waits any more: the earlier run had moved everything and only failed to tidy up.
  if (journal && anyFileIn(path.join(staging, projectFolder))) {
    undoMove(directory, staging, journal);
  }
}

function anyFileIn(folder: string): boolean {
  if (!stats(folder)?.isDirectory()) return false;
  const entries = fs.readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.some((entry) => entry.isFile());
}
