import fs from "node:fs";
import { CommandError } from "../errors.ts";

/** What went wrong, and what a person can do, by error code. */
const explanations: Record<string, readonly [what: string, advice: string]> = {
  EACCES: ["permission denied", "Choose a directory that you may write to."],
  EPERM: ["permission denied", "Choose a directory that you may write to."],
  EROFS: ["the file system is read-only", "Choose a directory that you may write to."],
  ENOSPC: ["the disk is full", "Free some space and run the command again."],
  EDQUOT: ["the disk quota is used up", "Free some space and run the command again."],
  ENAMETOOLONG: ["the path is too long", "Choose a shorter one."],
  ENOTDIR: ["a part of the path is a file", "Choose another directory."],
  ELOOP: ["the path has too many links", "Choose another directory."],
  EMFILE: ["too many files are open", "Close some programs and run the command again."],
  ENOTEMPTY: ["something else has appeared there meanwhile", "Choose another directory, or empty this one."],
  EEXIST: ["something else has appeared there meanwhile", "Choose another directory, or empty this one."],
  ENOENT: ["something there has been removed meanwhile", "Run the command again."],
};

/**
 * Says in words what the file system refused; other errors are returned as they are.
 *
 * @param directory what a person would call the place: the error itself may name a hidden folder of ours.
 */
export function fileSystemFailure(error: unknown, directory: string): unknown {
  if (!(error instanceof Error) || !("syscall" in error) || !("code" in error)) return error;
  const [what, advice] = explanations[String(error.code)] ?? [error.message, "Choose another directory."];
  return new CommandError(`cannot write to ${directory}: ${what}`, `${advice} Nothing was written.`, error);
}

export function isCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(error.code as string);
}

/** Whether something stands at a path, be it a link that leads nowhere. */
export function exists(at: string): boolean {
  return stats(at) !== undefined;
}

/** What stands at a path, be it a link, or nothing. */
export function stats(at: string): fs.Stats | undefined {
  try {
    return fs.lstatSync(at, { throwIfNoEntry: false });
  } catch (error) {
    if (isCode(error, "ENOTDIR")) return undefined;
    throw error;
  }
}
