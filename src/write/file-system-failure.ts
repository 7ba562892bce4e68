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
};

/** Says in words what the file system refused; other errors are returned as they are. */
export function fileSystemFailure(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  const explanation = explanations[error.code as string];
  if (!explanation) return error;
  const [what, advice] = explanation;
  const at = "path" in error ? ` to ${error.path}` : "";
  return new CommandError(`cannot write${at}: ${what}`, `${advice} Nothing was written.`, error);
}
