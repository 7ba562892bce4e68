import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";

const entry = path.join(import.meta.dirname, "..", "bin", "create-mcp-server.js");

/**
 * Makes a server as a user would: with the built command, installed and compiled. Its folder goes when this process
 * ends.
 *
 * @returns the project's folder.
 */
export function generatedServer(flags: readonly string[]): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), "create-mcp-server-bench-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const project = path.join(folder, "server");
  execFileSync(process.execPath, [entry, project, "--yes", "--no-git", ...flags], { stdio: "ignore" });
  execFileSync("npm", ["run", "build"], { cwd: project, stdio: "ignore" });
  return project;
}
