import path from "node:path";
import { execa } from "execa";
import fs from "fs-extra";
import { describe, expect, test } from "vitest";
import { planProject } from "../../src/plan/plan.ts";
import { entry, gitIdentity, tree } from "../support/command.ts";
import { plainAnswers } from "../support/generated.ts";
import { temporaryFolder } from "../support/temporary.ts";

const preload = path.join(import.meta.dirname, "kill-at.mjs");
const flags = ["--yes", "--no-samples", "--no-install", "--no-git", "--name", "test-server"];

/** Runs the command, killed right before its n-th change to the file system; 0: not killed. */
function runKilledAt(change: number, cwd: string, directory: string) {
  return execa(process.execPath, ["--import", preload, entry, directory, ...flags], {
    cwd,
    env: { KILL_AT: String(change) },
    reject: false,
    stdin: "ignore",
  });
}

const planned = planProject({ ...plainAnswers, progress: true, ci: true });

/** The files of a directory, by path, without `.git` and what waits to be moved; nothing where there is no directory. */
async function filesOf(directory: string): Promise<Record<string, string> | undefined> {
  if (!(await fs.pathExists(directory))) return undefined;
  const found: Record<string, string> = {};
  for (const file of await tree(directory)) {
    const at = path.join(directory, file);
    if (/^\.git$|^\.create-mcp-server-/.test(file)) continue;
    if ((await fs.stat(at)).isFile()) found[file] = await fs.readFile(at, "utf8");
  }
  return found;
}

const complete = Object.fromEntries(planned.map((file) => [file.path, file.content]));

interface Case {
  readonly title: string;
  readonly directory: string;
  readonly prepare: (folder: string) => Promise<unknown>;
  /** Whether the directory is there before: then a killed run may leave a part, which the next run undoes. */
  readonly exists: boolean;
}

const cases: Case[] = [
  { title: "a new directory", directory: "x", prepare: async () => {}, exists: false },
  { title: "a new directory in new ones", directory: "a/b/x", prepare: async () => {}, exists: false },
  {
    title: "a directory with only .git",
    directory: "x",
    prepare: (folder) => execa("git", ["init", "--quiet", "x"], { cwd: folder, env: gitIdentity }),
    exists: true,
  },
];

describe("killed before any one of its changes to the file system", () => {
  test.concurrent.each(cases)("$title", { timeout: 180_000 }, async ({ directory, prepare, exists }) => {
    let killed = 0;
    for (let change = 1; ; change++) {
      const folder = await temporaryFolder("killed");
      try {
        await prepare(folder);
        const target = path.join(folder, directory);
        const first = await runKilledAt(change, folder, directory);
        if (first.signal !== "SIGKILL") {
          expect(first.exitCode, first.stderr).toBe(0);
          expect(await filesOf(target)).toEqual(complete);
          break;
        }
        killed += 1;
        const after = await filesOf(target);
        const whole = JSON.stringify(after) === JSON.stringify(complete);
        // One rename makes a new directory: it is never there in part.
        if (!exists && after !== undefined) expect(after).toEqual(complete);

        const next = await runKilledAt(0, folder, directory);
        if (whole) {
          // All was in place: what is left to do is to tidy up, and to leave the project alone.
          expect(next.exitCode, next.stderr).toBe(1);
          expect(next.stderr).toMatch(/is not empty/);
        } else {
          expect(next.exitCode, next.stderr).toBe(0);
        }
        expect(await filesOf(target)).toEqual(complete);
        const names = (await tree(folder)).filter((entry) => entry.includes(".create-mcp-server"));
        expect(names).toEqual([`${directory}/.create-mcp-server.json`]);
        if (exists) expect(await fs.pathExists(path.join(target, ".git/HEAD"))).toBe(true);
      } finally {
        await fs.remove(folder);
      }
    }
    // Every file is a change of its own, and in a directory that exists its move is another.
    expect(killed).toBeGreaterThan(planned.length * (exists ? 2 : 1));
  });
});
