import path from "node:path";
import type { PlannedFile } from "../plan/plan.ts";

/**
 * A relative path with forward slashes that stays in the project and out of its `.git`, which is never ours: neither
 * to write, nor to take back because a journal says so.
 */
export function isProjectPath(file: string): boolean {
  return (
    file !== "" &&
    !path.isAbsolute(file) &&
    !/[\\:\0]/.test(file) &&
    !/^\.git(\/|$)/i.test(file) &&
    !file.split("/").some((part) => /^\.{0,2}$/.test(part))
  );
}

/**
 * A plan never holds paths that lead out of the project, nor two for one file; should one ever come to, nothing must
 * be written.
 */
export function refuseBadPaths(files: readonly PlannedFile[]): void {
  const seen = new Set<string>();
  for (const { path: file } of files) {
    if (!isProjectPath(file)) throw new Error(`a planned path leads out of the project: ${file}`);
    // Some file systems tell `A` from `a`, others do not.
    if (seen.has(file.toLowerCase())) throw new Error(`two planned files have the same path: ${file}`);
    seen.add(file.toLowerCase());
  }
}

/** Every folder that the files stand in, outer ones first. */
export function foldersOf(files: readonly PlannedFile[]): string[] {
  const folders = new Set<string>();
  for (const file of files) {
    const parts = file.path.split("/").slice(0, -1);
    for (const [index] of parts.entries()) folders.add(parts.slice(0, index + 1).join("/"));
  }
  return [...folders];
}
