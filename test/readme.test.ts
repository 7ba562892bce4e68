import { readFileSync } from "node:fs";
import path from "node:path";
import { execa } from "execa";
import fs from "fs-extra";
import { expect, test } from "vitest";
import { currentReadme, readmePath } from "../build/readme.ts";
import { gitIdentity } from "./support/command.ts";
import { repository } from "./support/tarball.ts";
import { temporaryFolder } from "./support/temporary.ts";

const readme = readFileSync(readmePath, "utf8");

/** The README's commands that begin with an install. */
const [create, check] = [...readme.matchAll(/^npm ci .*$/gm)].map(([command]) => command);

test("the README's option table is current (npm run docs writes it)", () => {
  expect(readme).toBe(currentReadme());
});

test("the check of this repository calls the README's test command", () => {
  expect(readFileSync(path.join(repository, ".ci", "run"), "utf8")).toContain(`\n${check}\n`);
});

test("the README's first command makes a tested sample server that runs", { timeout: 300_000 }, async () => {
  const folder = await temporaryFolder("readme");
  try {
    const clone = path.join(folder, "create-mcp-server");
    await execa("git", ["clone", "--quiet", repository, clone]);
    // The server that the command starts at last ends by itself: it has no input.
    const { exitCode, all } = await execa("sh", ["-c", create as string], {
      cwd: clone,
      env: { ...gitIdentity, NO_COLOR: "1", FORCE_COLOR: "0" },
      stdin: "ignore",
      all: true,
      reject: false,
    });
    expect(exitCode, all).toBe(0);
    expect(all).toMatch(/Tests +11 passed/);
    expect(all).toMatch(/"message":"serving on stdio"/);
  } finally {
    await fs.remove(folder);
  }
});
