import path from "node:path";
import { execa } from "execa";
import fs from "fs-extra";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { planProject } from "../../src/plan/plan.ts";
import { gitIdentity, type RunOptions, run, standIn, start, tree } from "../support/command.ts";
import { plainAnswers } from "../support/generated.ts";
import { temporaryFolder } from "../support/temporary.ts";

/** The quickest complete run. */
const quick = ["--yes", "--no-samples", "--no-install", "--no-git"];

interface Case {
  readonly title: string;
  /** Prepares the folder; returns where and how to run, when that is not the folder itself. */
  readonly given?: (folder: string) => Promise<Partial<RunOptions> | undefined>;
  readonly args: readonly string[];
  readonly exitCode: number;
  /** What a person is told. */
  readonly says?: RegExp;
  /** Where the project is after, relative to the folder; nothing: there is none. */
  readonly project?: string;
  readonly packageName?: string;
  /** What else is there after, and was before. */
  readonly keeps?: readonly string[];
}

const git = (cwd: string, ...args: string[]) => execa("git", args, { cwd, env: gitIdentity });
const refused = { exitCode: 2 } as const;
const long = "x".repeat(300);

const cases: Case[] = [
  {
    title: ". in an empty folder",
    given: async (at) => {
      await fs.mkdir(path.join(at, "here"));
      return { cwd: path.join(at, "here") };
    },
    args: [".", ...quick],
    exitCode: 0,
    project: "here",
    packageName: "here",
  },
  { title: "no directory, with --yes", args: quick, exitCode: 0, project: "my-mcp-server" },
  {
    title: "a folder with only .git",
    given: async (at) => {
      await git(at, "init", "--quiet", "repo");
      return undefined;
    },
    args: ["repo", ...quick],
    exitCode: 0,
    project: "repo",
    keeps: ["repo/.git"],
  },
  {
    title: "an empty folder that exists",
    given: (at) => fs.mkdir(path.join(at, "empty")).then(() => undefined),
    args: ["empty", ...quick],
    exitCode: 0,
    project: "empty",
  },
  {
    title: "a non-empty folder",
    given: (at) => fs.outputFile(path.join(at, "full/notes.txt"), "mine").then(() => undefined),
    args: ["full", ...quick],
    exitCode: 1,
    says: /not empty.*notes\.txt/s,
    keeps: ["full", "full/notes.txt"],
  },
  {
    title: "a file in the way",
    given: (at) => fs.outputFile(path.join(at, "taken"), "mine").then(() => undefined),
    args: ["taken", ...quick],
    exitCode: 1,
    says: /taken/,
    keeps: ["taken"],
  },
  {
    title: "a parent that is a file",
    given: (at) => fs.outputFile(path.join(at, "taken"), "mine").then(() => undefined),
    args: ["taken/below", ...quick],
    exitCode: 1,
    says: /taken/,
    keeps: ["taken"],
  },
  {
    title: "a parent that this user may not write to",
    given: async (at) => {
      await fs.mkdir(path.join(at, "locked"), { mode: 0o555 });
      await fs.chmod(at, 0o755);
      return process.getuid?.() === 0 ? { uid: 65534 } : {};
    },
    args: ["locked/below", ...quick],
    exitCode: 1,
    says: /locked.*(permission|not allowed|may not)/s,
    keeps: ["locked"],
  },
  {
    title: "spaces and non-ASCII letters in the path",
    args: ["Mes projets/été/files", ...quick],
    exitCode: 0,
    project: "Mes projets/été/files",
    packageName: "files",
  },
  {
    title: "an unknown flag",
    args: ["x", "--dokcer"],
    ...refused,
    says: /unknown flag --dokcer; did you mean --docker/,
  },
  {
    title: "a flag of a feature to come",
    args: ["x", "--hosts", "claude", "--yes"],
    ...refused,
    says: /unknown flag --hosts/,
  },
  { title: "an unknown short flag", args: ["x", "-q"], ...refused, says: /unknown flag -q/ },
  {
    title: "an unknown value",
    args: ["x", "--transport", "carrier-pigeon"],
    ...refused,
    says: /--transport cannot be "carrier-pigeon".*stdio, http, both/s,
  },
  { title: "a missing value", args: ["x", "--transport"], ...refused, says: /--transport needs a value/ },
  {
    title: "a flag as a value",
    args: ["x", "--transport", "--yes"],
    ...refused,
    says: /--transport needs a value/,
  },
  { title: "a value for a switch", args: ["x", "--docker=yes"], ...refused, says: /--docker takes no value/ },
  {
    title: "a value for a switch that has no opposite",
    args: ["x", "--json=true"],
    ...refused,
    says: /Write just --json\./,
  },
  {
    title: "a contradiction",
    args: ["x", "--docker", "--no-docker", "--yes"],
    ...refused,
    says: /contradict/,
  },
  {
    title: "one flag with two values",
    args: ["x", "--transport", "stdio", "--transport", "http", "--yes"],
    ...refused,
    says: /given twice/,
  },
  {
    title: "auth where there is no HTTP",
    args: ["x", "--auth", "token", "--yes"],
    ...refused,
    says: /--auth has no meaning here.*--transport http/,
  },
  {
    title: "a deployment of stdio",
    args: ["x", "--deploy", "nginx", "--yes"],
    ...refused,
    says: /--deploy has no meaning here.*--docker and --transport http/,
  },
  {
    title: "a deployment without an image",
    args: ["x", "--deploy", "kubernetes", "--no-docker", "--transport", "http", "--yes"],
    ...refused,
    says: /--deploy has no meaning here/,
  },
  {
    title: "no auth and no deployment where there could be none",
    args: ["x", "--auth", "none", "--deploy", "none", ...quick],
    exitCode: 0,
    project: "x",
  },
  {
    title: "a value that begins with a dash",
    args: ["x", "--description", "-x", "--yes"],
    ...refused,
    says: /written --description=-x/,
  },
  {
    title: "a blank description is none",
    args: ["x", "--description", "  ", ...quick],
    exitCode: 0,
    project: "x",
  },
  { title: "x/. is x", args: ["x/.", ...quick], exitCode: 0, project: "x" },
  { title: "x// is x", args: ["x//", ...quick], exitCode: 0, project: "x" },
  { title: "two directories", args: ["my", "server", "--yes"], ...refused, says: /one directory.*Quote/s },
  { title: "a literal --", args: ["--", "x", "--", ...quick], exitCode: 0, project: "x" },
  {
    title: "no terminal and missing answers",
    args: [],
    ...refused,
    says: /no terminal.*a directory, --description, --transport, --samples, --tools.*--pm, --install, --git.*--yes/s,
  },
  {
    title: "no terminal and one missing answer",
    args: [
      "x",
      "--description",
      "d",
      "--transport",
      "http",
      "--samples",
      "--tools",
      "",
      "--no-docker",
      "--progress",
    ],
    ...refused,
    says: /missing: --auth, --sdk, --ci, --pm, --install, --git/,
  },

  // Names
  {
    title: "My Server! is normalised, and said so",
    args: ["My Server!", ...quick],
    exitCode: 0,
    says: /"My Server!" became the folder "my-server"/,
    project: "my-server",
    packageName: "my-server",
  },
  {
    title: "@acme/files is a scope and a folder",
    args: ["@acme/files", ...quick],
    exitCode: 0,
    project: "files",
    packageName: "@acme/files",
  },
  {
    title: "UPPER is normalised, and said so",
    args: ["UPPER", ...quick],
    exitCode: 0,
    says: /"UPPER" became the folder "upper"/,
    project: "upper",
    packageName: "upper",
  },
  { title: "ünï without --name", args: ["ünï", ...quick], ...refused, says: /--name/ },
  {
    title: "ünï with --name keeps its folder",
    args: ["ünï", "--name", "uni", ...quick],
    exitCode: 0,
    project: "ünï",
    packageName: "uni",
  },
  {
    title: "a bad --name",
    args: ["x", "--name", "Not Valid", ...quick],
    ...refused,
    says: /"Not Valid" cannot be a package/,
  },
  {
    title: "a folder's name that no package may have, with --name",
    args: ["http", "--name", "http-server", ...quick],
    exitCode: 0,
    says: /create mcp-server@\S+ http -- --yes --name http-server/,
    project: "http",
    packageName: "http-server",
  },
  { title: "the same without --name", args: ["http", ...quick], ...refused, says: /core module.*--name/s },
  {
    title: "../x is a path that a person typed",
    given: async (at) => {
      await fs.mkdir(path.join(at, "below"));
      return { cwd: path.join(at, "below") };
    },
    args: ["../x", ...quick],
    exitCode: 0,
    project: "x",
    packageName: "x",
    keeps: ["below"],
  },
  {
    title: "a/b/c makes the folders between",
    args: ["a/b/c", ...quick],
    exitCode: 0,
    project: "a/b/c",
    packageName: "c",
  },
  { title: "..", args: ["..", ...quick], ...refused, says: /name of its own/ },
  { title: "a/..", args: ["a/..", ...quick], ...refused, says: /name of its own/ },
  { title: "/", args: ["/", ...quick], ...refused, says: /name of its own/ },
  { title: "node_modules", args: ["node_modules", ...quick], ...refused, says: /node_modules/ },
  { title: "con", args: ["con", ...quick], ...refused, says: /Windows/ },
  { title: "an empty name", args: ["", ...quick], ...refused, says: /empty/ },
  { title: "a name of 300 characters", args: [long, ...quick], ...refused, says: /300 characters/ },
  { title: "a line break in the name", args: ["a\nb", ...quick], ...refused, says: /control character/ },

  // Tool names
  {
    title: "a tool name with a dot",
    args: ["x", "--tools", "a.b", ...quick],
    ...refused,
    says: /"a\.b" cannot be a tool name/,
  },
  {
    title: "a tool name of 65 characters",
    args: ["x", "--tools", "t".repeat(65), ...quick],
    ...refused,
    says: /1 to 64/,
  },
  {
    title: "a tool name with a space",
    args: ["x", "--tools", "a b", ...quick],
    ...refused,
    says: /"a b" cannot/,
  },
  {
    title: "a tool name that is a path",
    args: ["x", "--tools", "../a", ...quick],
    ...refused,
    says: /"\.\.\/a" cannot/,
  },
  {
    title: "a tool name twice",
    args: ["x", "--tools", "a,b,a", ...quick],
    ...refused,
    says: /"a" is given twice/,
  },
  {
    title: "tool names that share a file",
    args: ["x", "--tools", "a_b,a-b", ...quick],
    ...refused,
    says: /share the file/,
  },
  { title: "an empty tool name", args: ["x", "--tools", "a,,b", ...quick], ...refused, says: /empty/ },
  {
    title: "the name of a sample",
    args: ["x", "--yes", "--samples", "--tools", "query_order"],
    ...refused,
    says: /name of a sample/,
  },

  // Descriptions
  {
    title: "501 characters",
    args: ["x", "--description", "é".repeat(501), ...quick],
    ...refused,
    says: /501 characters/,
  },
  { title: "a line break", args: ["x", "--description", "a\nb", ...quick], ...refused, says: /line break/ },
  { title: "500 emoji", args: ["x", "--description", "🦀".repeat(500), ...quick], exitCode: 0, project: "x" },
];

describe("edge cases of the command line", () => {
  test.concurrent.each(cases)("$title: exit $exitCode", async (row) => {
    const at = await temporaryFolder("row");
    try {
      const options = { cwd: at, ...(await row.given?.(at)) };
      const before = await tree(at);
      const { exitCode, stdout, stderr } = await run(row.args, options);

      expect(`${stdout}\n${stderr}`).toMatch(row.says ?? /./);
      expect(exitCode, stderr).toBe(row.exitCode);
      expect(stderr).not.toMatch(/\n\s+at /);
      if (row.project === undefined) {
        expect(await tree(at)).toEqual(before);
        expect(before).toEqual([...(row.keeps ?? [])].sort());
      } else {
        await expectProject(path.join(at, row.project), row.packageName);
        for (const kept of row.keeps ?? []) expect(await fs.pathExists(path.join(at, kept))).toBe(true);
        const strays = (await tree(at)).filter((entry) => entry.includes("create-mcp-server"));
        expect(strays).toEqual([`${row.project}/.create-mcp-server.json`]);
      }
    } finally {
      await fs.remove(at);
    }
  });
});

/** Every planned file is there, and nothing else. */
async function expectProject(project: string, packageName = path.basename(project)): Promise<void> {
  const { name } = await fs.readJson(path.join(project, "package.json"));
  expect(name).toBe(packageName);
  const planned = planProject({ ...plainAnswers, progress: true, ci: true });
  const files = [];
  for (const file of await tree(project)) {
    const stat = await fs.stat(path.join(project, file));
    if (stat.isFile()) files.push(file);
  }
  expect(files).toEqual(planned.map((file) => file.path).sort());
}

/** A new folder for each test of a block. */
function folderForEach(): () => string {
  let folder: string;
  beforeEach(async () => {
    folder = await temporaryFolder("edge");
  });
  afterEach(() => fs.remove(folder));
  return () => folder;
}

describe("git", () => {
  const here = folderForEach();
  const args = ["x", "--yes", "--no-samples", "--no-install"];

  test("a first commit has every file", async () => {
    const { exitCode } = await run(args, { cwd: here() });
    expect(exitCode).toBe(0);
    const log = await git(path.join(here(), "x"), "log", "--format=%an %s");
    expect(log.stdout).toMatch(/^Test .+/);
    expect((await git(path.join(here(), "x"), "status", "--porcelain")).stdout).toBe("");
  });

  test("a repository elsewhere, named by the environment, is left alone", async () => {
    await git(here(), "init", "--quiet", "other");
    const env = { GIT_DIR: path.join(here(), "other/.git"), GIT_WORK_TREE: path.join(here(), "other") };
    const { exitCode } = await run(args, { cwd: here(), env });
    expect(exitCode).toBe(0);
    await expect(git(path.join(here(), "other"), "log")).rejects.toThrow(/does not have any commits/);
    expect((await git(path.join(here(), "x"), "log", "--format=%an")).stdout).toBe("Test");
  });

  test("a hook that refuses without a word: said so, exit 0", async () => {
    const template = path.join(here(), "template");
    await standIn(path.join(template, "hooks"), "pre-commit", "exit 1");
    const { exitCode, stdout } = await run(args, { cwd: here(), env: { GIT_TEMPLATE_DIR: template } });
    expect(stdout).toMatch(/git commit failed, the files are staged: exit code 1/);
    expect(exitCode).toBe(0);
  });

  test("no git: said so, exit 0", async () => {
    const { exitCode, stdout } = await run(args, { cwd: here(), env: { PATH: "/nonexistent" } });
    expect(stdout).toMatch(/git is not installed/);
    expect(exitCode).toBe(0);
    expect(await fs.pathExists(path.join(here(), "x/package.json"))).toBe(true);
  });

  test("no identity: said so, the files are staged, exit 0", async () => {
    const nobody = Object.fromEntries(Object.keys(gitIdentity).map((name) => [name, undefined]));
    const env = { ...nobody, GIT_CONFIG_GLOBAL: path.join(here(), "config"), GIT_CONFIG_NOSYSTEM: "1" };
    await fs.outputFile(env.GIT_CONFIG_GLOBAL, "[user]\n\tuseConfigOnly = true\n");
    const { exitCode, stdout } = await run(args, { cwd: here(), env });
    expect(stdout).toMatch(/git does not know who you are/);
    expect(exitCode).toBe(0);
    const staged = await git(path.join(here(), "x"), "diff", "--cached", "--name-only");
    expect(staged.stdout.split("\n")).toContain("package.json");
  });

  test("inside another repository: said so, no repository of its own", async () => {
    await git(here(), "init", "--quiet");
    const { exitCode, stdout } = await run(args, { cwd: here() });
    expect(stdout).toMatch(/inside another repository/);
    expect(exitCode).toBe(0);
    expect(await fs.pathExists(path.join(here(), "x/.git"))).toBe(false);
  });

  test("a repository with commits: the files are left to its owner", async () => {
    await git(here(), "init", "--quiet");
    await git(here(), "commit", "--quiet", "--allow-empty", "--message", "mine");
    const { exitCode, stdout } = await run([".", "--name", "x", ...args.slice(1)], { cwd: here() });
    expect(stdout).toMatch(/has commits already/);
    expect(exitCode).toBe(0);
    expect((await git(here(), "log", "--format=%s")).stdout).toBe("mine");
  });
});

describe("install and git", () => {
  const here = folderForEach();
  const args = ["x", "--yes", "--no-samples"];

  test("a failed install leaves the project, says how to resume, exits 1", async () => {
    const bin = await standIn(path.join(here(), "bin"), "npm", "echo registry on fire >&2; exit 7");
    const { exitCode, stderr } = await run(args, { cwd: here(), path: bin });
    expect(stderr).toMatch(/npm install failed with exit code 7.*registry on fire.*cd .*x && npm install/s);
    expect(exitCode).toBe(1);
    await expectProject(path.join(here(), "x"));
    // The repository was asked for too, and can be made all the same.
    expect((await git(path.join(here(), "x"), "log", "--format=%an")).stdout).toBe("Test");
  });

  test("what a person should know is said also when the install fails", async () => {
    const bin = await standIn(path.join(here(), "bin"), "npm", "exit 7");
    const { exitCode, stdout } = await run(["My Server!", ...args.slice(1)], { cwd: here(), path: bin });
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/"My Server!" became the folder "my-server"/);
  });

  test.each(["rev-parse", "init", "add", "commit"])(
    "Ctrl-C during git %s: exit 130, the project stays",
    async (command) => {
      const started = path.join(here(), "started");
      const real = (await execa("which", ["git"])).stdout;
      const script = `if [ "$1" = ${command} ]; then echo $$ > ${started}; exec sleep 600; fi; exec ${real} "$@"`;
      const bin = await standIn(path.join(here(), "bin"), "git", script);
      const running = start([...args, "--no-install"], { cwd: here(), path: bin });
      await waitForContent(started);
      running.kill("SIGINT");
      const { exitCode, stderr } = await running;
      expect(exitCode).toBe(130);
      expect(stderr).toMatch(/The project is in place/);
      await expectProject(path.join(here(), "x"));
    },
  );

  test("a missing package manager: exit 1, says how to resume", async () => {
    const { exitCode, stderr } = await run([...args, "--pm", "bun"], {
      cwd: here(),
      env: { PATH: "/nonexistent" },
    });
    expect(stderr).toMatch(/bun is not installed.*bun install/s);
    expect(exitCode).toBe(1);
  });

  test("Ctrl-C during the install: exit 130, the project stays, the installer ends", async () => {
    const started = path.join(here(), "started");
    const bin = await standIn(path.join(here(), "bin"), "npm", `echo $$ > ${started}; exec sleep 600`);
    const running = start(args, { cwd: here(), path: bin });
    const pid = await waitForContent(started);
    running.kill("SIGINT");
    const { exitCode, stderr } = await running;
    expect(exitCode).toBe(130);
    expect(stderr).toMatch(/The project is in place.*npm install/s);
    await expectProject(path.join(here(), "x"));
    expect(() => process.kill(Number(pid), 0)).toThrow(/ESRCH/);
  });
});

/** The content of a file that another process is about to write. */
function waitForContent(file: string): Promise<string> {
  return vi.waitFor(
    async () => {
      const content = await fs.readFile(file, "utf8");
      expect(content).not.toBe("");
      return content;
    },
    { timeout: 20_000 },
  );
}
