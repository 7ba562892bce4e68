/**
 * Writes a project in a process of its own, and prints what came of it as JSON. Bundled by the tests:
 *
 *     node writer.js <directory> <number of files>
 */
import { openTarget } from "../../src/write/target.ts";
import { writeProject } from "../../src/write/write-project.ts";
import { someFiles } from "./some-files.ts";

const [directory = "", count = "0"] = process.argv.slice(2);
const report = (outcome: object) => process.stdout.write(JSON.stringify(outcome));
try {
  if (count === "0") await openTarget(directory);
  else await writeProject(directory, someFiles(Number(count)));
  report({ done: true });
} catch (error) {
  const { name, message, advice } = error as Error & { advice?: string };
  report({ done: false, name, message, advice });
}
