import fs from "node:fs/promises";
import path from "node:path";
import { contentHash } from "../plan/manifest.ts";
import { fileSystemFailure } from "./file-system-failure.ts";
import { isInside, type Journal, projectFolder, undoMove, writeJournal } from "./journal.ts";
import { acquireStaging, stagingName } from "./staging.ts";
import { nearestExisting, prepareTarget } from "./target.ts";

export interface ProjectFile {
  /** Relative to the project, with forward slashes. */
  readonly path: string;
  readonly content: string;
}

/**
 * Writes a project, all or nothing. Every file is staged beside its target first. A new directory, with any missing
 * ones above it, then appears by one rename: that is the commit point. Into a directory that exists, files are moved
 * under a journal, which the next run undoes if this one is killed.
 *
 * @returns a sentence about what an earlier, killed run had left, or nothing.
 * @throws CommandError when the target cannot take it; what `signal` was aborted with, when it fires before the commit
 *   point. Nothing of ours is left then.
 */
export async function writeProject(
  directory: string,
  files: readonly ProjectFile[],
  signal?: AbortSignal,
): Promise<string | undefined> {
  refuseBadPaths(files);
  try {
    const recovered = await prepareTarget(directory);
    const existing = await nearestExisting(directory);
    const staging = path.join(existing, stagingName(directory));
    await acquireStaging(staging);
    try {
      if (existing === directory) await moveInto(directory, staging, files, signal);
      else await appearAt(directory, existing, staging, files, signal);
    } finally {
      await fs.rm(staging, { recursive: true, force: true });
    }
    return recovered;
  } catch (error) {
    throw fileSystemFailure(error);
  }
}

/** A directory that is not there yet, and any missing ones above it, appear by one rename. */
async function appearAt(
  directory: string,
  existing: string,
  staging: string,
  files: readonly ProjectFile[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const [top = "", ...below] = path.relative(existing, directory).split(path.sep);
  await stage(path.join(staging, projectFolder, ...below), files, signal);
  await fs.rename(path.join(staging, projectFolder), path.join(existing, top));
}

/** A directory that exists cannot be renamed into being: the files move one by one, under a journal. */
async function moveInto(
  directory: string,
  staging: string,
  files: readonly ProjectFile[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const waiting = path.join(staging, projectFolder);
  await stage(waiting, files, signal);
  const journal: Journal = {
    files: Object.fromEntries(files.map((file) => [file.path, contentHash(file.content)])),
    folders: foldersOf(files),
  };
  await writeJournal(staging, journal);
  try {
    for (const folder of journal.folders) await fs.mkdir(path.join(directory, folder));
    for (const file of files) await fs.rename(path.join(waiting, file.path), path.join(directory, file.path));
  } catch (error) {
    await undoMove(directory, journal);
    throw error;
  }
}

async function stage(
  folder: string,
  files: readonly ProjectFile[],
  signal: AbortSignal | undefined,
): Promise<void> {
  signal?.throwIfAborted();
  await fs.mkdir(folder, { recursive: true });
  for (const below of foldersOf(files)) await fs.mkdir(path.join(folder, below));
  // Side by side: most of the time that a run takes is spent in waiting for the file system.
  await Promise.all(
    files.map((file) => fs.writeFile(path.join(folder, file.path), file.content, { flag: "wx" })),
  );
  signal?.throwIfAborted();
}

/** Every folder that the files stand in, outer ones first. */
function foldersOf(files: readonly ProjectFile[]): string[] {
  const folders = new Set<string>();
  for (const file of files) {
    const parts = file.path.split("/").slice(0, -1);
    for (const [index] of parts.entries()) folders.add(parts.slice(0, index + 1).join("/"));
  }
  return [...folders];
}

/** A plan never holds such paths; should one ever come to, nothing must be written. */
function refuseBadPaths(files: readonly ProjectFile[]): void {
  const seen = new Set<string>();
  for (const { path: file } of files) {
    if (!isInside(file)) throw new Error(`a planned path leads out of the project: ${file}`);
    if (seen.has(file.toLowerCase())) throw new Error(`two planned files have the same path: ${file}`);
    seen.add(file.toLowerCase());
  }
}
