import path from "node:path";
import { execa } from "execa";
import fs from "fs-extra";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Answers } from "../../src/options/declaration.ts";
import { plainAnswers } from "../support/generated.ts";
import { nodeBinary } from "../support/node-versions.ts";
import { probe } from "../support/probe.ts";
import { installTarball } from "../support/tarball.ts";
import { temporaryFolder } from "../support/temporary.ts";

interface Case {
  readonly title: string;
  readonly node: "20" | "22" | "24" | "26";
  readonly flags: readonly string[];
  readonly answers: Partial<Answers>;
}

const cases: Case[] = [
  {
    title: "stdio with all defaults",
    node: "20",
    flags: [],
    answers: { samples: true, progress: true, ci: true },
  },
  {
    title: "stdio with names of one's own",
    node: "22",
    flags: ["--tools", "list_repos,close-issue,2fast,toString", "--no-progress"],
    answers: { tools: ["list_repos", "close-issue", "2fast", "toString"] },
  },
  {
    title: "HTTP with everything",
    node: "24",
    flags: ["--transport", "http", "--deploy", "nginx", "--samples", "--tools", "list_repos"],
    answers: { transport: "http", auth: "token", samples: true, progress: true, tools: ["list_repos"] },
  },
  {
    title: "both with Docker",
    node: "26",
    flags: ["--transport", "both", "--docker", "--auth", "oauth", "--deploy", "kubernetes"],
    answers: { transport: "both", auth: "oauth", samples: true, progress: true },
  },
];

let folder: string;
let command: string;
beforeAll(async () => {
  folder = await temporaryFolder("tarball");
  command = await installTarball(folder);
});
afterAll(() => fs.remove(folder));

describe("from the packed tarball, with dependencies installed from scratch", () => {
  test.each(cases)("$title on Node $node", { timeout: 300_000 }, async ({ node, flags, answers }) => {
    const binary = await nodeBinary(node);
    const env = {
      PATH: [path.dirname(binary), process.env.PATH].join(path.delimiter),
      GIT_AUTHOR_NAME: "Test",
      GIT_AUTHOR_EMAIL: "test@example.com",
      GIT_COMMITTER_NAME: "Test",
      GIT_COMMITTER_EMAIL: "test@example.com",
    };
    const project = path.join(folder, `node-${node}`);
    const { stdout } = await execa(binary, [command, project, "--yes", "--json", ...flags], {
      env,
      cwd: folder,
    });
    expect(JSON.parse(stdout)).toMatchObject({ installed: true, committed: true, notes: [] });

    for (const script of ["typecheck", "lint", "test"]) {
      const { exitCode, all } = await execa("npm", ["run", script], {
        cwd: project,
        env,
        all: true,
        reject: false,
      });
      expect(exitCode, `npm run ${script}\n${all}`).toBe(0);
    }
    await probe(project, { ...plainAnswers, ...answers }, binary);
    const status = await execa("git", ["status", "--porcelain"], { cwd: project });
    expect(status.stdout).toBe("");
  });
});
