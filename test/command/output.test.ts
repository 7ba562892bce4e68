import path from "node:path";
import fs from "fs-extra";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { optionRows } from "../../src/help.ts";
import { entry, gitIdentity, run, tree } from "../support/command.ts";
import { temporaryFolder } from "../support/temporary.ts";

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder("output");
});
afterEach(() => fs.remove(folder));

describe("--help and --version", () => {
  test("--help names every flag, value, default and exit code on stdout", async () => {
    const { exitCode, stdout, stderr } = await run(["--help"], { cwd: folder });
    expect(exitCode).toBe(0);
    expect(stderr).toBe("");
    for (const row of optionRows()) {
      expect(stdout).toContain(row.flag);
      expect(stdout).toContain(row.help);
    }
    expect(stdout).toMatch(/0 done +1 failed +2 wrong usage +130 cancelled/);
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  });

  test("-h and -v are short for them", async () => {
    expect((await run(["-h"], { cwd: folder })).stdout).toBe((await run(["--help"], { cwd: folder })).stdout);
    expect((await run(["-v"], { cwd: folder })).stdout).toBe(packageJson.version);
    expect((await run(["--version"], { cwd: folder })).stdout).toBe(packageJson.version);
  });
});

describe("--dry-run", () => {
  test("names every file and writes nothing", async () => {
    const dry = await run(["x", "--yes", "--dry-run"], { cwd: folder });
    expect(dry.exitCode).toBe(0);
    expect(await tree(folder)).toEqual([]);

    const real = await run(["x", "--yes", "--no-install", "--no-git", "--json"], { cwd: folder });
    for (const file of JSON.parse(real.stdout).files) expect(dry.stdout).toContain(`\n  ${file}`);
  });
});

test("--dry-run refuses what the real run would refuse", async () => {
  await fs.outputFile(path.join(folder, "full/notes.txt"), "mine");
  const { exitCode, stderr } = await run(["full", "--yes", "--dry-run"], { cwd: folder });
  expect(stderr).toMatch(/not empty/);
  expect(exitCode).toBe(1);
});

describe("--json", () => {
  test("prints one object on stdout and everything else on stderr", async () => {
    const { exitCode, stdout, stderr } = await run(["x", "--yes", "--no-install", "--json"], { cwd: folder });
    expect(exitCode).toBe(0);
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({
      directory: path.join(folder, "x"),
      name: "x",
      dryRun: false,
      installed: false,
      committed: true,
      notes: [],
      nextSteps: ["cd x", "npm install", "npm test", "npm run dev"],
    });
    expect(result.files).toContain("src/index.ts");
    expect(stderr).toMatch(/Created \d+ files/);
  });

  test("prints failures as an object too", async () => {
    const { exitCode, stdout, stderr } = await run(["x", "--json", "--transport", "pigeon"], { cwd: folder });
    expect(exitCode).toBe(2);
    expect(JSON.parse(stdout).error).toMatchObject({ code: 2, message: expect.stringContaining("pigeon") });
    expect(stderr).toMatch(/^Error: .*pigeon/);
  });
});

describe("pipes and stacks", () => {
  test("a reader that goes away stops nothing", async () => {
    const { execa } = await import("execa");
    const script = `"${process.execPath}" "${entry}" x --yes --no-install | true; echo "\${PIPESTATUS[0]}"`;
    const { stdout, stderr } = await execa("bash", ["-c", script], { cwd: folder, env: gitIdentity });
    expect([stdout, stderr]).toEqual(["0", ""]);
    expect(await fs.pathExists(path.join(folder, "x/.git/HEAD"))).toBe(true);
  });

  test("a current directory that is gone is said in a sentence", async () => {
    const { execa } = await import("execa");
    const script = `mkdir gone && cd gone && rmdir ../gone && "${process.execPath}" "${entry}" x --yes --no-install`;
    const { exitCode, stderr } = await execa("sh", ["-c", script], { cwd: folder, reject: false });
    expect(stderr).toMatch(/^Error: the current directory cannot be used\nChange to one that exists\.$/);
    expect(exitCode).toBe(1);
  });

  test("no escape codes, even when colours are forced upon it", async () => {
    const { stdout, stderr } = await run(["x", "--yes", "--no-install"], {
      cwd: folder,
      env: { FORCE_COLOR: "3" },
    });
    expect(stdout + stderr).not.toContain("\u001b");
  });

  test("a stack only with --debug", async () => {
    const quiet = await run(["x", "--transport", "pigeon"], { cwd: folder });
    expect(quiet.stderr).not.toMatch(/^\s+at /m);
    const loud = await run(["x", "--transport", "pigeon", "--debug"], { cwd: folder });
    expect(loud.stderr).toMatch(/^\s+at /m);
  });
});

describe("the command that makes the same project again", () => {
  const flags: string[][] = [
    [],
    ["--transport", "http", "--auth", "none", "--docker", "--no-ci"],
    ["--transport", "http", "--deploy", "nginx"],
    [
      "--transport",
      "both",
      "--tools",
      "list_repos,close-issue",
      "--samples",
      "--no-progress",
      "--pm",
      "yarn",
    ],
    ["--description", 'It\'s "quoted" & $HOME `x` \\ {{y}}', "--no-samples"],
    ["--tools", "a,b"],
    ["--description=-x and more"],
  ];
  test.each(flags.map((given) => [given.join(" "), given] as const))("after: %s", async (_, given) => {
    const first = await run(["x", "--yes", "--no-install", "--no-git", "--json", ...given], { cwd: folder });
    const { reproduce } = JSON.parse(first.stdout) as { reproduce: string };
    expect(reproduce).toContain(`mcp-server@${packageJson.version}`);

    // A real shell takes the words apart; a stand-in for the package manager shows what it would hand on.
    const shell = reproduce.replace(/^\w+ create \S+/, "printf '%s\\0'");
    const { execa } = await import("execa");
    const { stdout } = await execa("sh", ["-c", shell], { cwd: folder });
    const words = stdout.split("\0").slice(0, -1);
    const agent = { npm_config_user_agent: `${/^\w+/.exec(reproduce)?.[0]}/1.0.0` };
    const second = path.join(folder, "second");
    await fs.mkdir(second);
    const { exitCode, stderr } = await run(words, { cwd: second, env: agent });
    expect(exitCode, stderr).toBe(0);
    for (const file of JSON.parse(first.stdout).files) {
      expect(await fs.readFile(path.join(second, "x", file), "utf8")).toBe(
        await fs.readFile(path.join(folder, "x", file), "utf8"),
      );
    }
  });
});

describe("the package manager", () => {
  test.each(["npm", "pnpm", "yarn", "bun"])("is the one that started it: %s", async (pm) => {
    const env = { npm_config_user_agent: `${pm}/9.9.9 node/v20.0.0 linux x64` };
    const { stdout } = await run(["x", "--yes", "--no-install", "--no-git", "--json"], { cwd: folder, env });
    expect(JSON.parse(stdout).nextSteps).toContain(`${pm} install`);
  });

  test("--pm overrides it, and an unknown one means npm", async () => {
    const quick = ["--yes", "--no-install", "--no-git", "--json"];
    const pnpm = { npm_config_user_agent: "pnpm/9.9.9" };
    const first = await run(["x", ...quick, "--pm", "bun"], { cwd: folder, env: pnpm });
    expect(JSON.parse(first.stdout).nextSteps).toContain("bun install");
    const second = await run(["y", ...quick], {
      cwd: folder,
      env: { npm_config_user_agent: "constructor/1" },
    });
    expect(JSON.parse(second.stdout).nextSteps).toContain("npm install");
  });
});
