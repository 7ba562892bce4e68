import { createHash } from "node:crypto";
import fs from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { CommandError } from "../errors.ts";
import { parseJson } from "./journal.ts";

/** Who is writing: found in a staging folder by the next run, which has to tell a running process from a killed one. */
interface Owner {
  readonly pid: number;
  readonly host: string;
}

const ownerFile = "owner.json";

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

/**
 * Makes a staging folder and becomes its owner, in one step: of two runs at one target, one gets it.
 *
 * @throws CommandError when another run has it.
 */
export async function acquireStaging(staging: string): Promise<void> {
  const candidate = `${staging}.${process.pid}`;
  const owner: Owner = { pid: process.pid, host: os.hostname() };
  try {
    await fs.mkdir(candidate);
    await fs.writeFile(path.join(candidate, ownerFile), JSON.stringify(owner));
    await fs.rename(candidate, staging);
  } catch (error) {
    await fs.rm(candidate, { recursive: true, force: true });
    if (isCode(error, "ENOTEMPTY", "EEXIST")) throw anotherRun(staging);
    throw error;
  }
}

/**
 * Whether a staging folder was left by a run that has ended.
 *
 * @throws CommandError when its run is still going on.
 */
export async function refuseLiveOwner(staging: string): Promise<void> {
  const text = await fs.readFile(path.join(staging, ownerFile), "utf8").catch(() => "");
  const owner = parseJson(text) as Owner | undefined;
  // A process of another machine cannot be seen from here; after a crash its number may be our own by now.
  const isOther = owner?.host === os.hostname() && Number.isInteger(owner.pid) && owner.pid !== process.pid;
  if (isOther && isAlive(owner.pid)) throw anotherRun(staging, owner.pid);
}

/** Removes what runs left that were killed before they owned the staging folder. */
export async function removeAbandonedCandidates(staging: string): Promise<void> {
  const folder = path.dirname(staging);
  const entries = await fs.readdir(folder).catch(() => []);
  for (const entry of entries.filter((name) => name.startsWith(`${path.basename(staging)}.`))) {
    const pid = Number(entry.slice(path.basename(staging).length + 1));
    if (Number.isInteger(pid) && (pid === process.pid || !isAlive(pid)))
      await fs.rm(path.join(folder, entry), { recursive: true });
  }
}

export function isCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(error.code as string);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isCode(error, "EPERM");
  }
}

function anotherRun(staging: string, pid?: number): CommandError {
  const who = pid === undefined ? "another run" : `another run (process ${pid})`;
  return new CommandError(
    `${who} is creating a project here`,
    `Wait until it has ended, or remove ${staging}.`,
  );
}
