import path from "node:path";
import fs from "fs-extra";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openTarget } from "../../src/write/target.ts";
import { writeProject } from "../../src/write/write-project.ts";
import { tree } from "../support/command.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { someFiles } from "./some-files.ts";
import { bundleWriter, writeInProcess } from "./writer-process.ts";

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder("target");
});
afterEach(() => fs.remove(folder));

const files = someFiles(2);
const written = (directory: string) =>
  ["file-0.txt", "src", "src/file-1.txt"].map((file) => `${directory}/${file}`);

interface State {
  readonly title: string;
  /** The files that are there before, by path; a path that ends in a slash is a folder. */
  readonly before: readonly string[];
  /** A link, and where it leads. */
  readonly link?: readonly [at: string, to: string];
  readonly target: string;
  readonly refused?: RegExp;
  /** Everything that is there then, also what a link leads to. */
  readonly after: readonly string[];
}

const long = "x".repeat(300);
const states: State[] = [
  { title: "nothing", before: [], target: "x", after: ["x", ...written("x")] },
  {
    title: "nothing, in folders that are missing too",
    before: [],
    target: "a/b/x",
    after: ["a", "a/b", "a/b/x", ...written("a/b/x")],
  },
  { title: "an empty directory", before: ["x/"], target: "x", after: ["x", ...written("x")] },
  {
    title: "a directory with .git and what desktops leave",
    before: ["x/.git/", "x/.DS_Store", "x/Thumbs.db"],
    target: "x",
    after: ["x", "x/.DS_Store", "x/.git", "x/Thumbs.db", ...written("x")],
  },
  {
    title: "a link to an empty directory",
    before: ["real/"],
    link: ["x", "real"],
    target: "x",
    after: ["real", ...written("real"), "x", ...written("x")],
  },
  {
    title: "nothing, below a link to a directory",
    before: ["real/"],
    link: ["l", "real"],
    target: "l/x",
    after: ["l", "l/x", ...written("l/x"), "real", "real/x", ...written("real/x")],
  },
  {
    title: "a link that leads nowhere",
    before: [],
    link: ["x", "nowhere"],
    target: "x",
    refused: /x is a link that leads nowhere$/,
    after: ["x"],
  },
  {
    title: "a link in a circle",
    before: [],
    link: ["x", "x"],
    target: "x",
    refused: /x: the path has too many links$/,
    after: ["x"],
  },
  { title: "a file", before: ["x"], target: "x", refused: /x is a file, not a directory$/, after: ["x"] },
  {
    title: "a file above",
    before: ["a"],
    target: "a/b/x",
    refused: /a is a file, not a directory$/,
    after: ["a"],
  },
  {
    title: "a directory with one file",
    before: ["x/mine"],
    target: "x",
    refused: /x is not empty: it has mine$/,
    after: ["x", "x/mine"],
  },
  {
    title: "a directory with many files",
    before: ["x/a", "x/b", "x/c", "x/d"],
    target: "x",
    refused: /x is not empty: it has a, b, c, \.\.\.$/,
    after: ["x", "x/a", "x/b", "x/c", "x/d"],
  },
  { title: "a name that is too long", before: [], target: long, refused: /the path is too long$/, after: [] },
];

describe("the states of a target", () => {
  test.each(states)("$title", async ({ before, link, target, refused, after }) => {
    for (const entry of before) {
      if (entry.endsWith("/")) await fs.mkdirp(path.join(folder, entry));
      else await fs.outputFile(path.join(folder, entry), "mine");
    }
    if (link) await fs.symlink(path.join(folder, link[1]), path.join(folder, link[0]));
    const directory = path.join(folder, target);

    if (refused) {
      await expect(openTarget(directory)).rejects.toThrow(refused);
      await expect(writeProject(directory, files)).rejects.toMatchObject({
        name: "CommandError",
        exitCode: 1,
      });
    } else {
      await openTarget(directory);
      await writeProject(directory, files);
      for (const file of files) {
        expect(await fs.readFile(path.join(directory, file.path), "utf8")).toBe(file.content);
      }
    }
    expect(await tree(folder)).toEqual([...after].sort());
  });

  test.each([".git/config", ".GIT/config", ".git", "C:x", "a/./b", "a/"])(
    "a plan with the path %j writes nothing",
    async (bad) => {
      await expect(writeProject(path.join(folder, "x"), [{ path: bad, content: "" }])).rejects.toThrow(
        /leads out/,
      );
      expect(await tree(folder)).toEqual([]);
    },
  );
});

describe("in a process of its own", () => {
  let bundle: string;
  let entry: string;
  beforeAll(async () => {
    bundle = await temporaryFolder("writer");
    entry = await bundleWriter(bundle);
    await fs.chmod(bundle, 0o755);
  });
  afterAll(() => fs.remove(bundle));

  test("the working directory is the target", async () => {
    expect(await writeInProcess(entry, ".", 2, { cwd: folder })).toEqual({ done: true });
    expect(await tree(folder)).toEqual(["file-0.txt", "src", "src/file-1.txt"]);
  });

  // Root may write anywhere: as root, the writer runs as nobody; otherwise the mode says it.
  const asNobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  test.each([
    ["a new directory", "closed/x"],
    ["a new directory in new ones", "closed/a/b/x"],
    ["the directory itself", "closed"],
  ])("nothing may be written: %s", async (_, target) => {
    await fs.chmod(folder, 0o755);
    await fs.mkdir(path.join(folder, "closed"), 0o555);
    for (const count of [0, 2]) {
      const outcome = await writeInProcess(entry, path.join(folder, target), count, {
        cwd: bundle,
        ...asNobody,
      });
      expect(outcome).toEqual({
        done: false,
        name: "CommandError",
        message: `cannot write to ${path.join(folder, "closed")}: permission denied`,
        advice: "Choose a directory that you may write to. Nothing was written.",
      });
    }
    expect(await tree(folder)).toEqual(["closed"]);
  });

  test("a folder above that may not be entered", async () => {
    await fs.chmod(folder, 0o755);
    await fs.mkdirp(path.join(folder, "closed/inner"));
    await fs.chmod(path.join(folder, "closed"), 0o600);
    const outcome = await writeInProcess(entry, path.join(folder, "closed/inner/x"), 2, {
      cwd: bundle,
      ...asNobody,
    });
    expect(outcome).toMatchObject({
      name: "CommandError",
      message: expect.stringMatching(/: permission denied$/),
    });
    await fs.chmod(path.join(folder, "closed"), 0o700);
    expect(await tree(folder)).toEqual(["closed", "closed/inner"]);
  });
});
