import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import path from "node:path";
import { execa } from "execa";
import fs from "fs-extra";
import type { Answers } from "../../src/options/declaration.ts";
import { planProject } from "../../src/plan/plan.ts";
import { workspace } from "./workspace.ts";

/** What tests start from: the smallest project; each test says how its own differs. */
export const plainAnswers: Answers = {
  name: "test-server",
  description: "An MCP server",
  transport: "stdio",
  samples: false,
  tools: [],
  docker: false,
  progress: false,
  auth: "none",
  sdk: "v1",
  deploy: "none",
  ci: false,
  pm: "npm",
};

/** Files that a test adds to a generated project, by path; an existing file is replaced. */
export type ExtraFiles = Readonly<Record<string, string>>;

/**
 * Generates a project into the workspace and compiles it. The same project is built once for all test files and runs.
 *
 * @returns the project's folder.
 */
export async function builtProject(answers: Partial<Answers>, extra: ExtraFiles = {}): Promise<string> {
  const files = planProject({ ...plainAnswers, ...answers });
  const all = [...files, ...Object.entries(extra).map(([file, content]) => ({ path: file, content }))];
  const folder = path.join(
    workspace,
    `built-${createHash("sha256").update(JSON.stringify(all)).digest("hex").slice(0, 12)}`,
  );
  if (existsSync(folder)) return folder;
  const staging = `${folder}.${process.pid}`;
  for (const file of all) await fs.outputFile(path.join(staging, file.path), file.content);
  await execa("npx", ["tsc", "-p", "tsconfig.build.json"], { cwd: staging });
  // Another test file may have built the same project meanwhile; then theirs stays.
  await fs.rename(staging, folder).catch(() => fs.remove(staging));
  return folder;
}
