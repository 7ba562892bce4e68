import path from "node:path";
import { execa } from "execa";
import fs from "fs-extra";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Answers } from "../../src/options/declaration.ts";
import { planProject } from "../../src/plan/plan.ts";
import { combinations, describeCombination } from "../support/combinations.ts";
import { probe } from "../support/probe.ts";
import { workspace } from "../support/workspace.ts";

/**
 * What a compiler, a linter and a test runner can see of a project. What package.json says to a package manager only
 * is left out: `snapshots.test.ts` proves that nothing else in it depends on the package manager.
 */
function sourceTree(answers: Answers): string {
  const files = planProject(answers);
  const seen = files.filter((file) => /^(src|test)\/|^tsconfig/.test(file.path));
  const packageJson = files.find((file) => file.path === "package.json");
  const { allowScripts, resolutions, ...rest } = JSON.parse(packageJson?.content ?? "");
  return JSON.stringify([seen, rest]);
}

/** One combination for each distinct source tree; `snapshots.test.ts` proves which choices make none. */
const distinct = [
  ...new Map(combinations.toReversed().map((answers) => [sourceTree(answers), answers])).values(),
].map((answers) => [describeCombination(answers), answers] as const);

const folder = path.join(workspace, `matrix-${process.pid}`);
beforeAll(() => fs.remove(folder));
afterAll(() => fs.remove(folder));

describe("every distinct source tree type-checks, lints, builds, passes its own tests and answers a client", () => {
  test.concurrent.each(distinct)("%s", { timeout: 180_000 }, async (name, answers) => {
    const project = path.join(folder, name.replaceAll(/[^a-z+=]+/g, "-"));
    for (const file of planProject(answers)) await fs.outputFile(path.join(project, file.path), file.content);

    for (const script of ["typecheck", "lint", "test"]) {
      const { exitCode, all } = await execa("npm", ["run", script], {
        cwd: project,
        all: true,
        reject: false,
      });
      expect(exitCode, `npm run ${script}\n${all}`).toBe(0);
    }
    await probe(project, answers);
  });
});
