import type { PlannedFile } from "../../src/plan/plan.ts";

/** A project of so many files, in folders of different depths. */
export function someFiles(count: number): PlannedFile[] {
  const folders = ["", "src/", "src/tools/", "test/"];
  return Array.from({ length: count }, (_, index) => ({
    path: `${folders[index % folders.length]}file-${index}.txt`,
    content: `the content of file ${index}\n`,
  }));
}
