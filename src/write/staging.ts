import { createHash } from "node:crypto";
import fs from "node:fs/promises";
import path from "node:path";
import { exists } from "./file-system-failure.ts";
import { anotherRun, markAsOwn, mayBeRunning, self } from "./owner.ts";

/**
 * The name of the staging folder for a target. It follows from the target alone, so that the next run at the same
 * target recognises what a killed one has left.
 */
export function stagingName(target: string): string {
  return `.create-mcp-server-${createHash("sha256").update(target).digest("hex").slice(0, 8)}`;
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
export async function acquireStaging(staging: string): Promise<void> {
  const candidate = `${staging}.${self}`;
  try {
    await fs.mkdir(candidate);
    await markAsOwn(candidate);
    await fs.rename(candidate, staging);
  } catch (error) {
    await remove(candidate);
    throw (await exists(staging)) ? anotherRun(staging) : error;
  }
}

/**
 * Gives up a staging folder that we own and removes it. It is renamed first: the next run may have a new one of the same
 * name before the last file of this one is gone.
 */
export async function releaseStaging(staging: string): Promise<void> {
  const old = discarded(staging);
  await fs.rename(staging, old).catch(async () => {
    // One that a killed run had given up is in the way.
    await remove(old);
    await fs.rename(staging, old);
  });
  await remove(old);
}

/** Removes what runs left that were killed before they owned the staging folder, or after they had given it up. */
export async function removeAbandoned(staging: string): Promise<void> {
  const folder = path.dirname(staging);
  const prefix = `${path.basename(staging)}.`;
  for (const entry of await fs.readdir(folder).catch(() => [])) {
    if (!entry.startsWith(prefix)) continue;
    const owner = entry.slice(prefix.length);
    if (owner === "old" || !mayBeRunning(owner)) await remove(path.join(folder, entry));
  }
}

export async function remove(at: string): Promise<void> {
  await fs.rm(at, { recursive: true, force: true });
}
