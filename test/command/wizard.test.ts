import path from "node:path";
import fs from "fs-extra";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { options } from "../../src/options/declaration.ts";
import { defaultDirectory } from "../../src/options/flags.ts";
import { standIn } from "../support/command.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { keys, TerminalSession } from "../support/terminal.ts";

let folder: string;
let bin: string;
let session: TerminalSession | undefined;

beforeEach(async () => {
  folder = await temporaryFolder("wizard");
  bin = await temporaryFolder("wizard-bin");
  await standIn(bin, "npm", 'echo "$@" > installed');
});
afterEach(async () => {
  session?.close();
  await fs.remove(folder);
  await fs.remove(bin);
});

function open(...args: string[]): TerminalSession {
  session = new TerminalSession(args, { cwd: folder, path: bin });
  return session;
}

/** The beginning of a question, as it fits on one line. */
const beginning = (prompt: string) => prompt.slice(0, 40);

const where = "Where should the server go?";
const { auth, deploy, ...asked } = options;
/** What a person with stdio is asked, in order. */
const questions = [where, ...Object.values(asked).map((option) => option.prompt)].map(beginning);

describe("the wizard", () => {
  test("makes a project from nothing but Enter", async () => {
    const terminal = open();
    for (const question of questions) {
      await terminal.shows(question);
      terminal.type(keys.enter);
    }
    expect(await terminal.exitCode).toBe(0);
    const project = path.join(folder, defaultDirectory);
    const manifest = await fs.readJson(path.join(project, ".create-mcp-server.json"));
    expect(manifest.answers).toEqual({
      name: defaultDirectory,
      description: "An MCP server",
      transport: "stdio",
      samples: true,
      tools: [],
      docker: false,
      progress: true,
      auth: "none",
      sdk: "v1",
      deploy: "none",
      ci: true,
      pm: "npm",
    });
    expect(await fs.readFile(path.join(project, "installed"), "utf8")).toBe("install\n");
    expect(await fs.pathExists(path.join(project, ".git/HEAD"))).toBe(true);
    expect(terminal.text()).toMatch(/cd my-mcp-server\n.*npm test\n.*npm run dev/);
    expect(terminal.text()).toMatch(/npm create mcp-server@\d+\.\d+\.\d+ my-mcp-server -- --yes/);
  });

  test("takes other answers, and asks about auth and deployment where there is HTTP", async () => {
    const terminal = open("--no-install", "--no-git");
    const answers: [string, string][] = [
      [where, `files${keys.enter}`],
      [options.description.prompt, `Says "hi" & more${keys.enter}`],
      [options.transport.prompt, keys.down + keys.enter],
      [options.samples.prompt, `n`],
      [options.tools.prompt, `list_repos, close-issue${keys.enter}`],
      [options.docker.prompt, `y`],
      [options.progress.prompt, `n`],
      [options.auth.prompt, keys.enter],
      [options.sdk.prompt, keys.down + keys.enter],
      [options.deploy.prompt, keys.down + keys.enter],
      [options.ci.prompt, `n`],
      [options.pm.prompt, keys.down + keys.enter],
    ];
    for (const [question, answer] of answers) {
      await terminal.shows(beginning(question));
      terminal.type(answer);
    }
    expect(await terminal.exitCode).toBe(0);
    const manifest = await fs.readJson(path.join(folder, "files/.create-mcp-server.json"));
    expect(manifest.answers).toEqual({
      name: "files",
      description: 'Says "hi" & more',
      transport: "http",
      samples: false,
      tools: ["list_repos", "close-issue"],
      docker: true,
      progress: false,
      auth: "token",
      sdk: "v2",
      deploy: "nginx",
      ci: false,
      pm: "pnpm",
    });
  });

  test("shows what is wrong with an answer and asks again", async () => {
    const terminal = open("x", "--description", "d", "--transport", "stdio", "--samples");
    await terminal.shows(beginning(options.tools.prompt));
    terminal.type(`a.b${keys.enter}`);
    await terminal.shows('"a.b" cannot be a tool name');
    terminal.type(keys.ctrlC);
    expect(await terminal.exitCode).toBe(130);
  });

  test("asks for another directory when the first cannot take a project", async () => {
    await fs.outputFile(path.join(folder, "full/notes.txt"), "mine");
    const terminal = open();
    await terminal.shows(where);
    terminal.type(`full${keys.enter}`);
    await terminal.shows(/not empty/);
    terminal.type(keys.ctrlC);
    expect(await terminal.exitCode).toBe(130);
  });

  test("asks for a package name when the folder gives none", async () => {
    const terminal = open("ünï", "--yes");
    expect(await terminal.exitCode).toBe(2);
    const asking = open("ünï", "--no-install", "--no-git");
    await asking.shows("What is the package called?");
    asking.type(`uni${keys.enter}`);
    for (const question of questions.slice(1, -2)) {
      await asking.shows(question);
      asking.type(keys.enter);
    }
    expect(await asking.exitCode).toBe(0);
    expect((await fs.readJson(path.join(folder, "ünï/package.json"))).name).toBe("uni");
  });

  test("refuses what flags and answers make together", async () => {
    const terminal = open("x", "--tools", "reserve_seat", "--no-install", "--no-git");
    const asked = [options.description, options.transport, options.samples];
    const rest = [options.docker, options.progress, options.sdk, options.ci, options.pm];
    for (const { prompt } of [...asked, ...rest]) {
      await terminal.shows(beginning(prompt));
      terminal.type(prompt === options.samples.prompt ? "y" : keys.enter);
    }
    expect(await terminal.exitCode).toBe(2);
    expect(terminal.text()).toMatch(/is the name of a sample tool/);
    expect(await fs.readdir(folder)).toEqual([]);
  });

  test("takes --auth although --transport is still to be asked", async () => {
    const terminal = open("x", "--auth", "none", "--no-install", "--no-git");
    await terminal.shows(beginning(options.description.prompt));
    terminal.type(keys.enter);
    await terminal.shows(beginning(options.transport.prompt));
    terminal.type(keys.down + keys.enter);
    for (const { prompt } of [
      options.samples,
      options.tools,
      options.docker,
      options.progress,
      options.sdk,
      options.ci,
      options.pm,
    ]) {
      await terminal.shows(beginning(prompt));
      terminal.type(keys.enter);
    }
    expect(await terminal.exitCode).toBe(0);
    const { answers } = await fs.readJson(path.join(folder, "x/.create-mcp-server.json"));
    expect(answers).toMatchObject({ transport: "http", auth: "none" });
  });

  test.each(["SIGTERM", "SIGHUP"])("%s ends it: exit 130, nothing left", async (signal) => {
    const terminal = open();
    await terminal.shows(where);
    terminal.kill(signal);
    expect(await terminal.exitCode).toBe(130);
    expect(await fs.readdir(folder)).toEqual([]);
  });

  test("asks nothing with --yes, and what is given not again", async () => {
    const terminal = open("x", "--yes", "--no-install", "--no-git");
    expect(await terminal.exitCode).toBe(0);
    expect(terminal.text()).not.toMatch(/\?/);
  });

  test.each([
    ["a text", 0],
    ["a choice", 2],
    ["a yes or no", 3],
  ])("Ctrl-D at %s: exit 130, nothing left", async (_, index) => {
    const terminal = open();
    for (const earlier of questions.slice(0, index)) {
      await terminal.shows(earlier);
      terminal.type(keys.enter);
    }
    await terminal.shows(questions[index] as string);
    terminal.type(keys.ctrlD);
    expect(await terminal.exitCode).toBe(130);
    expect(await fs.readdir(folder)).toEqual([]);
  });

  test.each(questions.map((question, index) => [question, index] as const))(
    "Ctrl-C at %j: exit 130, nothing left",
    async (question, index) => {
      const terminal = open();
      for (const earlier of questions.slice(0, index)) {
        await terminal.shows(earlier);
        terminal.type(keys.enter);
      }
      await terminal.shows(question);
      terminal.type(keys.ctrlC);
      expect(await terminal.exitCode).toBe(130);
      expect(await fs.readdir(folder)).toEqual([]);
      expect(terminal.text()).toMatch(/Cancelled; nothing was written/);
    },
  );
});
