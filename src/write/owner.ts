import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { CommandError } from "../errors.ts";
import { isCode } from "./file-system-failure.ts";

/**
 * Who is writing, as it stands in the name of an empty file in a staging folder. A name can be taken over by one
 * rename, so that of two runs that find the same one left behind only one gets it.
 */
export const self = `${process.pid}@${encodeURIComponent(os.hostname())}`;

const ownerFile = (owner: string) => `owner-${owner}`;

/** Marks a folder that nobody else knows yet as ours. */
export function markAsOwn(folder: string): void {
  fs.writeFileSync(path.join(folder, ownerFile(self)), "");
}

/**
 * Becomes the owner of a staging folder whose run has ended.
 *
 * @throws CommandError when its run may still be going on, or another one is taking it over.
 */
export function takeOver(staging: string): void {
  try {
    // A link would have us work, and remove, where it leads.
    if (!fs.lstatSync(staging).isDirectory()) throw inTheWay(staging);
    const [owner] = fs.readdirSync(staging).flatMap((entry) => /^owner-(.*)/.exec(entry)?.[1] ?? []);
    if (owner === undefined) {
      markAsOwn(staging);
      return;
    }
    if (mayBeRunning(owner)) throw anotherRun(staging, owner);
    fs.renameSync(path.join(staging, ownerFile(owner)), path.join(staging, ownerFile(self)));
  } catch (error) {
    // It was there a moment ago: somebody was faster.
    throw isCode(error, "ENOENT") ? anotherRun(staging) : error;
  }
}

/** Whether an owner can still be at work. After a crash its number may be our own by now, and then it is not. */
export function mayBeRunning(owner: string): boolean {
  if (owner === self) return false;
  const [pid, host] = owner.split("@");
  // What another machine is doing cannot be seen from here.
  if (host !== self.split("@")[1] || !/^[1-9]\d*$/.test(pid as string)) return true;
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return !isCode(error, "ESRCH");
  }
}

/** What a second run is told. */
export function anotherRun(staging: string, owner?: string): CommandError {
  if (owner === undefined) {
    return new CommandError("another run is creating a project here", "Wait until it has ended.");
  }
  const [pid, host] = owner.split("@");
  const where = host === self.split("@")[1] ? "" : ` on ${host}`;
  return new CommandError(
    `another run (process ${pid}${where}) is creating a project here`,
    `Wait until it has ended. If it was killed, remove ${path.join(staging, ownerFile(owner))}: the next run then takes its work back.`,
  );
}

function inTheWay(staging: string): CommandError {
  return new CommandError(`${staging} is in the way`, "Remove it and run the command again.");
}
