import fs from "node:fs";
import path from "node:path";
import { CommandError } from "../errors.ts";
import { contentHash } from "../plan/manifest.ts";
import type { PlannedFile } from "../plan/plan.ts";
import { exists, fileSystemFailure } from "./file-system-failure.ts";
import { type Journal, projectFolder, undoMove, writeJournal } from "./journal.ts";
import { foldersOf, refuseBadPaths } from "./project-file.ts";
import { acquireStaging, releaseStaging, stagingName } from "./staging.ts";
import { openTarget, type Target } from "./target.ts";

/**
 * Writes a project, all or nothing. Every file is staged beside its target first. A new directory, with any missing
 * ones above it, then appears by one rename: that is the commit point. Into a directory that exists, files are moved
 * under a journal, which the next run undoes if this one is killed. All of it is synchronous: some dozens of small files
 * take a fraction of the time that the thread pool needs for them.
 *
 * @returns a sentence about what an earlier, killed run had left, or nothing.
 * @throws CommandError when the target cannot take it; what `signal` was aborted with, when it fires before the commit
 *   point. Nothing of ours is left then.
 */
export async function writeProject(
  directory: string,
  files: readonly PlannedFile[],
  signal?: AbortSignal,
): Promise<string | undefined> {
  refuseBadPaths(files);
  const { target, recovered } = await openTarget(directory);
  try {
    const staging = path.join(target.existing, stagingName(target.directory));
    acquireStaging(staging);
    await writeThrough(staging, target, files, signal);
    return recovered;
  } catch (error) {
    throw fileSystemFailure(error, directory);
  }
}

/** From the moment that we own the staging folder until it is gone again. */
async function writeThrough(
  staging: string,
  target: Target,
  files: readonly PlannedFile[],
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    if (target.existing === target.directory) await moveInto(target.directory, staging, files, signal);
    else await appearAt(target, staging, files, signal);
  } catch (error) {
    if (!(error instanceof UndoFailed)) tidyUp(staging);
    throw error;
  }
  tidyUp(staging);
}

function tidyUp(staging: string): void {
  try {
    releaseStaging(staging);
  } catch {
    // What has been decided by now stands; the next run here tries again.
  }
}

/** A directory that is not there yet, and any missing ones above it, appear by one rename. */
async function appearAt(
  { directory, existing }: Target,
  staging: string,
  files: readonly PlannedFile[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const [top = "", ...below] = path.relative(existing, directory).split(path.sep);
  await stage(path.join(staging, projectFolder, ...below), files, signal);
  fs.renameSync(path.join(staging, projectFolder), path.join(existing, top));
}

/** A directory that exists cannot be renamed into being: the files move one by one, under a journal. */
async function moveInto(
  directory: string,
  staging: string,
  files: readonly PlannedFile[],
  signal: AbortSignal | undefined,
): Promise<void> {
  await stage(path.join(staging, projectFolder), files, signal);
  const journal: Journal = {
    files: Object.fromEntries(files.map((file) => [file.path, contentHash(file.content)])),
    folders: foldersOf(files),
  };
  writeJournal(staging, journal);
  try {
    for (const folder of journal.folders) fs.mkdirSync(path.join(directory, folder));
    for (const file of files) {
      moveFile(path.join(staging, projectFolder, file.path), path.join(directory, file.path));
    }
  } catch (error) {
    undoOrSay(directory, staging, journal);
    throw error;
  }
}

function undoOrSay(directory: string, staging: string, journal: Journal): void {
  try {
    undoMove(directory, staging, journal);
  } catch (cause) {
    throw new UndoFailed(directory, cause);
  }
}

/** A rename would replace a file that somebody has put there meanwhile. */
function moveFile(from: string, to: string): void {
  if (exists(to)) throw new CommandError(`${to} has appeared meanwhile`, "Choose another directory.");
  fs.renameSync(from, to);
}

/** The journal has to stay then: the next run needs it. */
class UndoFailed extends CommandError {
  constructor(directory: string, cause: unknown) {
    super(
      `${directory} holds a part of the project`,
      "Run the command again: it takes that part back first.",
      cause,
    );
  }
}

async function stage(
  folder: string,
  files: readonly PlannedFile[],
  signal: AbortSignal | undefined,
): Promise<void> {
  signal?.throwIfAborted();
  fs.mkdirSync(folder, { recursive: true });
  for (const below of foldersOf(files)) fs.mkdirSync(path.join(folder, below));
  for (const file of files) fs.writeFileSync(path.join(folder, file.path), file.content, { flag: "wx" });
  // A Ctrl-C that came meanwhile is delivered in this turn of the event loop, before the commit point.
  await new Promise(setImmediate);
  signal?.throwIfAborted();
}
