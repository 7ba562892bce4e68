import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { execa } from "execa";
import fs from "fs-extra";
import { type Dependency, versions } from "../../src/plan/versions.ts";

/** What is fetched on demand by a script, and is no dependency of any project. */
const notInstalled: readonly string[] = ["@modelcontextprotocol/inspector"] satisfies Dependency[];

const dependencies = Object.fromEntries(
  Object.entries(versions)
    .filter(([name]) => !notInstalled.includes(name))
    .map(([name, { version }]) => [name, version]),
);

/**
 * The folder that all generated projects of the tests stand in. It has the dependencies of every combination,
 * installed once; Node finds them from any folder below.
 */
export const workspace = path.join(
  os.tmpdir(),
  `create-mcp-server-tests-${createHash("sha256").update(JSON.stringify(dependencies)).digest("hex").slice(0, 12)}`,
);

/** Vitest's global set-up: installs the shared dependencies unless an earlier run has. */
export async function setup(): Promise<void> {
  const done = path.join(workspace, "node_modules", ".installed");
  if (existsSync(done)) return;
  await fs.outputJson(path.join(workspace, "package.json"), { private: true, dependencies });
  await execa("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: workspace });
  await fs.outputFile(done, "");
}
