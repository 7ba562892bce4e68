import { hash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { exists } from "./file-system-failure.ts";
import { anotherRun, markAsOwn, mayBeRunning, self } from "./owner.ts";

/**
 * The name of the staging folder for a target. It follows from the target alone, so that the next run at the same
 * target recognises what a killed one has left.
 */
export function stagingName(target: string): string {
  return `.create-mcp-server-${hash("sha256", target, "hex").slice(0, 8)}`;
}

/** Every place where the staging folder of a target can stand: in it, or in one of the folders above. */
export function stagingPlaces(target: string): string[] {
  const folders = [target];
  for (let folder = target; path.dirname(folder) !== folder; folder = path.dirname(folder)) {
    folders.push(path.dirname(folder));
  }
  return folders.map((folder) => path.join(folder, stagingName(target)));
}

/** What a staging folder is called once it is done with. */
export const discarded = (staging: string) => `${staging}.old`;

/**
 * Makes a staging folder and becomes its owner, in one step: of two runs at one target, one gets it.
 *
 * @throws CommandError when another run has it.
 */
export function acquireStaging(staging: string): void {
  const candidate = `${staging}.${self}`;
  try {
    fs.mkdirSync(candidate);
    markAsOwn(candidate);
    fs.renameSync(candidate, staging);
  } catch (error) {
    remove(candidate);
    throw exists(staging) ? anotherRun(staging) : error;
  }
}

/**
 * Gives up a staging folder that we own and removes it. It is renamed first: the next run may have a new one of the same
 * name before the last file of this one is gone.
 */
export function releaseStaging(staging: string): void {
  const old = discarded(staging);
  try {
    fs.renameSync(staging, old);
  } catch {
    // One that a killed run had given up is in the way.
    remove(old);
    fs.renameSync(staging, old);
  }
  remove(old);
}

/** Removes what runs left that were killed before they owned the staging folder, or after they had given it up. */
export function removeAbandoned(staging: string): void {
  const folder = path.dirname(staging);
  const prefix = `${path.basename(staging)}.`;
  for (const entry of entriesOf(folder)) {
    if (!entry.startsWith(prefix)) continue;
    const owner = entry.slice(prefix.length);
    if (owner === "old" || !mayBeRunning(owner)) remove(path.join(folder, entry));
  }
}

/** A folder that may be written to need not be readable. */
function entriesOf(folder: string): string[] {
  try {
    return fs.readdirSync(folder);
  } catch {
    return [];
  }
}

export function remove(at: string): void {
  fs.rmSync(at, { recursive: true, force: true });
}
