import nodeFs from "node:fs";
import path from "node:path";
import { execa } from "execa";
import fs from "fs-extra";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { contentHash } from "../../src/plan/manifest.ts";
import { self } from "../../src/write/owner.ts";
import { stagingName } from "../../src/write/staging.ts";
import { openTarget } from "../../src/write/target.ts";
import { writeProject } from "../../src/write/write-project.ts";
import { tree } from "../support/command.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { someFiles } from "./some-files.ts";

let folder: string;
let target: string;
let staging: string;

beforeEach(async () => {
  folder = await temporaryFolder("interference");
  target = path.join(folder, "target");
  staging = path.join(target, stagingName(target));
});
afterEach(() => fs.remove(folder));
afterEach(() => vi.restoreAllMocks());

const files = someFiles(12);

/** What a run leaves that was killed while it moved: one file waits, the others are said to have been moved. */
async function leaveJournal(moved: Record<string, string>, folders: string[] = []): Promise<void> {
  await fs.outputFile(path.join(staging, "project/waiting.txt"), "waiting");
  const hashes = Object.entries(moved).map(([file, content]) => [file, contentHash(content)]);
  await fs.outputJson(path.join(staging, "journal.json"), { files: Object.fromEntries(hashes), folders });
}

/** Lets something happen when all files are staged, in the last turn of the event loop before they are moved. */
function whenStaged(happen: () => void): void {
  const look = AbortSignal.prototype.throwIfAborted;
  const looks = vi.spyOn(AbortSignal.prototype, "throwIfAborted");
  looks.mockImplementation(function (this: AbortSignal) {
    if (looks.mock.calls.length === 2) happen();
    look.call(this);
  });
}

/** Lets something happen just before the n-th file is moved into the target. */
function beforeMoving(index: number, happen: () => void): void {
  const rename = nodeFs.renameSync;
  let moved = 0;
  vi.spyOn(nodeFs, "renameSync").mockImplementation((from, to) => {
    const isMove = String(from).startsWith(`${staging}/project/`);
    if (isMove && moved++ === index) happen();
    rename(from, to);
  });
}

function diskIsFull(): never {
  throw Object.assign(new Error("ENOSPC: no space left"), { code: "ENOSPC", syscall: "rename" });
}

describe("what a journal may not have removed", () => {
  test("the repository of the target", async () => {
    const head = "ref: refs/heads/main\n";
    await fs.outputFile(path.join(target, ".git/HEAD"), head);
    await leaveJournal({ ".git/HEAD": head }, [".git"]);
    await expect(openTarget(target)).rejects.toThrow(/cannot be read/);
    expect(await fs.readFile(path.join(target, ".git/HEAD"), "utf8")).toBe(head);
  });

  test("a person's file that is just like one that still waits", async () => {
    await leaveJournal({ "waiting.txt": "waiting" });
    await fs.outputFile(path.join(target, "waiting.txt"), "waiting");
    await expect(openTarget(target)).rejects.toThrow(/not empty: it has waiting.txt/);
    expect(await tree(target)).toEqual(["waiting.txt"]);
  });

  test("a folder in place of a file", async () => {
    await leaveJournal({ "a.txt": "ours" });
    await fs.outputFile(path.join(target, "a.txt/mine"), "ours");
    await expect(openTarget(target)).rejects.toThrow(/not empty: it has a.txt/);
    expect(await tree(target)).toEqual(["a.txt", "a.txt/mine"]);
  });

  test.runIf(process.platform !== "win32")("a pipe in place of a file, nor is it read", async () => {
    await leaveJournal({ "a.txt": "ours" });
    await execa("mkfifo", [path.join(target, "a.txt")]);
    await expect(openTarget(target)).rejects.toThrow(/not empty: it has a.txt/);
    expect(await tree(target)).toEqual(["a.txt"]);
  });

  test("anything, where the journal stands in a folder above", async () => {
    staging = path.join(folder, stagingName(target));
    await leaveJournal({ "a.txt": "mine" });
    await fs.outputFile(path.join(target, "a.txt"), "mine");
    await expect(openTarget(target)).rejects.toThrow(/not empty: it has a.txt/);
    expect(await tree(folder)).toEqual(["target", "target/a.txt"]);
  });

  test("anything, where it is too large to be one: it is not even read", async () => {
    await leaveJournal({ "a.txt": "mine" });
    await fs.outputFile(path.join(target, "a.txt"), "mine");
    // A sparse file: it takes no space, and no string can hold what it says.
    await fs.truncate(path.join(staging, "journal.json"), 2 ** 33);
    await expect(openTarget(target)).rejects.toThrow(/cannot be read/);
    expect(await fs.pathExists(path.join(target, "a.txt"))).toBe(true);
  });

  test("anything, where the staging folder is a link", async () => {
    await leaveJournal({ "a.txt": "mine" });
    await fs.outputFile(path.join(target, "a.txt"), "mine");
    await fs.move(staging, path.join(folder, "elsewhere"));
    await fs.symlink(path.join(folder, "elsewhere"), staging);
    await expect(writeProject(target, files)).rejects.toThrow(/is in the way/);
    expect(await tree(path.join(folder, "elsewhere"))).toContain("project/waiting.txt");
    expect(await fs.pathExists(path.join(target, "a.txt"))).toBe(true);
  });
});

describe("what happens while files are moved", () => {
  beforeEach(() => fs.outputFile(path.join(target, ".git/HEAD"), "ref: refs/heads/main\n"));
  const untouched = [".git"];

  test.each([0, 1, 6, 11])("a failure at file %i: all is taken back", async (index) => {
    beforeMoving(index, diskIsFull);
    await expect(writeProject(target, files)).rejects.toThrow("the disk is full");
    expect(await tree(target)).toEqual(untouched);
    expect(await fs.pathExists(path.join(target, ".git/HEAD"))).toBe(true);
  });

  test("Ctrl-C before the first one: all is taken back", async () => {
    const stop = new AbortController();
    whenStaged(() => stop.abort(new Error("enough")));
    await expect(writeProject(target, files, stop.signal)).rejects.toThrow("enough");
    expect(await tree(target)).toEqual(untouched);
  });

  test("a person puts a file where one of ours is to go: theirs stays, ours are taken back", async () => {
    const last = path.join(target, "test/file-11.txt");
    beforeMoving(5, () => fs.writeFileSync(last, "mine"));
    await expect(writeProject(target, files)).rejects.toThrow(`${last} has appeared meanwhile`);
    expect(await tree(target)).toEqual([...untouched, "test", "test/file-11.txt"]);
    expect(await fs.readFile(last, "utf8")).toBe("mine");
  });

  test("a person edits a file that has been moved, and it is all taken back: theirs stays", async () => {
    const first = path.join(target, "file-0.txt");
    beforeMoving(5, () => {
      fs.writeFileSync(first, "mine");
      diskIsFull();
    });
    await expect(writeProject(target, files)).rejects.toThrow("the disk is full");
    expect(await tree(target)).toEqual([...untouched, "file-0.txt"]);
    expect(await fs.readFile(first, "utf8")).toBe("mine");
  });

  test("what cannot be taken back now is taken back by the next run", async () => {
    const waiting = path.join(staging, "project");
    beforeMoving(5, () => {
      vi.restoreAllMocks();
      fs.renameSync(waiting, `${waiting}.aside`);
      fs.symlinkSync(waiting, waiting);
      diskIsFull();
    });
    await expect(writeProject(target, files)).rejects.toThrow(/holds a part of the project/);
    await fs.unlink(waiting);
    await fs.rename(`${waiting}.aside`, waiting);
    expect((await openTarget(target)).recovered).toMatch(/unfinished/);
    expect(await tree(target)).toEqual(untouched);
  });
});

describe("what happens while files are staged", () => {
  test("one of many cannot be written: nothing is left of the others", async () => {
    const bad = { path: "x".repeat(300), content: "" };
    await expect(writeProject(target, [bad, ...someFiles(100)])).rejects.toThrow(
      `cannot write to ${target}: the path is too long`,
    );
    expect(await tree(folder)).toEqual([]);
  });

  test("somebody makes the directory and puts a file there: theirs stays, ours go", async () => {
    const mine = path.join(target, "mine");
    whenStaged(() => fs.outputFileSync(mine, "mine"));
    await expect(writeProject(target, files, new AbortController().signal)).rejects.toMatchObject({
      name: "CommandError",
      message: `cannot write to ${target}: something else has appeared there meanwhile`,
    });
    expect(await tree(folder)).toEqual(["target", "target/mine"]);
  });
});

describe("what an earlier run left", () => {
  test.each([
    ["before it owned its folder", (at: string) => `${at}.${self}`],
    ["after it had given it up", (at: string) => `${at}.old`],
  ])("killed %s", async (_, left) => {
    const above = path.join(folder, stagingName(target));
    await fs.outputFile(path.join(left(above), "project/a.txt"), "ours");
    await writeProject(target, files);
    expect((await tree(folder)).filter((entry) => !entry.startsWith("target"))).toEqual([]);
  });

  test("killed after a new directory had appeared: what is above it is tidied, the project stays", async () => {
    await fs.outputFile(path.join(target, "a.txt"), "ours");
    const above = path.join(folder, stagingName(target));
    await fs.outputFile(path.join(above, `owner-${self}`), "");
    await fs.outputFile(path.join(`${above}.old`, `owner-${self}`), "");
    await expect(openTarget(target)).rejects.toThrow(/not empty: it has a.txt/);
    expect(await tree(folder)).toEqual(["target", "target/a.txt"]);
  });

  test("killed after all had been moved: it is complete, and stays", async () => {
    await leaveJournal({ "a.txt": "ours" });
    await fs.remove(path.join(staging, "project/waiting.txt"));
    await fs.outputFile(path.join(target, "a.txt"), "ours");
    await expect(openTarget(target)).rejects.toThrow(/not empty: it has a.txt/);
    expect(await tree(target)).toEqual(["a.txt"]);
  });

  test("at the same target by another path", async () => {
    await fs.mkdirp(target);
    const left = path.join(target, stagingName(path.join(target, "x")));
    await fs.outputFile(path.join(left, "project/a.txt"), "ours");
    await fs.symlink(target, path.join(folder, "link"));
    await openTarget(path.join(folder, "link/x"));
    expect(await tree(target)).toEqual([]);
  });

  test("on another machine: nobody can see whether it has ended", async () => {
    const owner = path.join(staging, "owner-1@elsewhere");
    await fs.outputFile(owner, "");
    await expect(writeProject(target, files)).rejects.toMatchObject({
      message: "another run (process 1 on elsewhere) is creating a project here",
      advice: expect.stringContaining(owner),
    });
    await fs.remove(owner);
    await writeProject(target, files);
    expect(await fs.pathExists(staging)).toBe(false);
  });
});
