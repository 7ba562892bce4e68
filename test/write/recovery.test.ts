import os from "node:os";
import path from "node:path";
import fs from "fs-extra";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { contentHash } from "../../src/plan/manifest.ts";
import { stagingName } from "../../src/write/staging.ts";
import { openTarget } from "../../src/write/target.ts";
import { writeProject } from "../../src/write/write-project.ts";
import { run, start, tree } from "../support/command.ts";
import { temporaryFolder } from "../support/temporary.ts";

let folder: string;
let target: string;
let staging: string;

beforeEach(async () => {
  folder = await temporaryFolder("recovery");
  target = path.join(folder, "target");
  staging = path.join(target, stagingName(target));
});
afterEach(() => fs.remove(folder));

const files = [
  { path: "package.json", content: "{}\n" },
  { path: "src/index.ts", content: "export {};\n" },
];

/** What a run leaves that was killed while it moved its files. */
async function leaveJournal(journal: unknown): Promise<void> {
  await fs.outputFile(path.join(staging, "project/waiting.txt"), "waiting");
  await fs.outputJson(path.join(staging, "journal.json"), journal);
}

describe("undoing a move that was cut short", () => {
  test("a file that a person has changed since is theirs", async () => {
    await leaveJournal({
      files: { "a.txt": contentHash("ours"), "b/c.txt": contentHash("ours") },
      folders: ["b"],
    });
    await fs.outputFile(path.join(target, "a.txt"), "ours");
    await fs.outputFile(path.join(target, "b/c.txt"), "theirs now");
    await expect(openTarget(target)).rejects.toThrow(/not empty: it has b/);
    expect(await tree(target)).toEqual(["b", "b/c.txt"]);
  });

  test("a folder that holds something else stays", async () => {
    await leaveJournal({ files: { "b/c.txt": contentHash("ours") }, folders: ["b"] });
    await fs.outputFile(path.join(target, "b/c.txt"), "ours");
    await fs.outputFile(path.join(target, "b/mine.txt"), "mine");
    await expect(openTarget(target)).rejects.toThrow(/not empty/);
    expect(await tree(target)).toEqual(["b", "b/mine.txt"]);
  });

  const outside = [
    ["a path upwards", { files: { "../outside.txt": contentHash("outside") }, folders: [] }],
    ["an absolute path", { files: { [path.join(os.tmpdir(), "x")]: contentHash("x") }, folders: [] }],
    ["a folder upwards", { files: {}, folders: [".."] }],
    ["a backslash", { files: { "..\\outside.txt": contentHash("outside") }, folders: [] }],
    ["no journal at all", 42],
  ] as const;
  test.each(outside)("a journal with %s is refused, and nothing is removed", async (_, journal) => {
    await leaveJournal(journal);
    await fs.outputFile(path.join(folder, "outside.txt"), "outside");
    await expect(openTarget(target)).rejects.toThrow(/cannot be read/);
    expect(await fs.readFile(path.join(folder, "outside.txt"), "utf8")).toBe("outside");
  });

  test("a broken journal is refused with the folder to look at", async () => {
    await leaveJournal({});
    await fs.writeFile(path.join(staging, "journal.json"), "{");
    await expect(openTarget(target)).rejects.toMatchObject({ advice: expect.stringContaining(staging) });
  });

  test("a link is not followed out of the directory", async () => {
    await leaveJournal({ files: { "b/outside.txt": contentHash("outside") }, folders: ["b"] });
    await fs.outputFile(path.join(folder, "elsewhere/outside.txt"), "outside");
    await fs.symlink(path.join(folder, "elsewhere"), path.join(target, "b"));
    await expect(openTarget(target)).rejects.toThrow(/not empty/);
    expect(await fs.readFile(path.join(folder, "elsewhere/outside.txt"), "utf8")).toBe("outside");
  });
});

describe("giving up before the commit point", () => {
  const cases = [
    ["a new directory", false, []],
    ["a directory that exists", true, ["target"]],
  ] as const;
  test.each(cases)("leaves nothing in %s", async (_, exists, left) => {
    if (exists) await fs.mkdir(target);
    const stop = new AbortController();
    const writing = writeProject(target, files, stop.signal);
    stop.abort(new Error("enough"));
    await expect(writing).rejects.toThrow("enough");
    expect(await tree(folder)).toEqual(left);
  });

  test("Ctrl-C while it writes: exit 130 and nothing left, or the whole project", async () => {
    const running = start(["x", "--yes", "--no-install", "--no-git"], { cwd: folder });
    const seen = fs.promises.watch(folder)[Symbol.asyncIterator]();
    await seen.next();
    running.kill("SIGINT");
    const { exitCode } = await running;
    const left = await tree(folder);
    if (exitCode === 130) expect(left).toEqual([]);
    else expect(left).toContain("x/package.json");
  });
});

describe("two runs at one target", () => {
  test("one makes the project, the other is refused and destroys nothing", async () => {
    const flags = ["--yes", "--no-install", "--no-git"];
    const both = await Promise.all([
      run(["x", ...flags], { cwd: folder }),
      run(["x", ...flags], { cwd: folder }),
    ]);
    expect(both.map(({ exitCode }) => exitCode).sort()).toEqual([0, 1]);
    expect((await tree(folder)).filter((entry) => !entry.startsWith("x"))).toEqual([]);
    expect(await fs.pathExists(path.join(folder, "x/package.json"))).toBe(true);
  });

  test("a run that is still going on is not disturbed", async () => {
    const owner = path.join(staging, `owner-${process.ppid}@${os.hostname()}`);
    await fs.outputFile(owner, "");
    await expect(writeProject(target, files)).rejects.toThrow(/another run \(process \d+\)/);
    expect(await fs.pathExists(owner)).toBe(true);
  });
});

describe("odd targets", () => {
  test("a link to an empty directory is written through", async () => {
    await fs.mkdir(path.join(folder, "real"));
    await fs.symlink(path.join(folder, "real"), target);
    await writeProject(target, files);
    expect(await tree(path.join(folder, "real"))).toEqual(["package.json", "src", "src/index.ts"]);
  });

  test("a link that leads nowhere is in the way", async () => {
    await fs.symlink(path.join(folder, "nowhere"), target);
    await expect(writeProject(target, files)).rejects.toThrow(/a link that leads nowhere/);
  });

  test.each(["../x", "/x", "a//b", "a\\b", ""])("a plan with the path %j writes nothing", async (bad) => {
    await expect(writeProject(target, [{ path: bad, content: "" }])).rejects.toThrow(/leads out/);
    expect(await tree(folder)).toEqual([]);
  });

  test("a plan with two names for one file writes nothing", async () => {
    const twice = [
      { path: "A.txt", content: "" },
      { path: "a.txt", content: "" },
    ];
    await expect(writeProject(target, twice)).rejects.toThrow(/same path/);
  });
});
