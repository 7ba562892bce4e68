import nodeFs from "node:fs";
import os from "node:os";
import path from "node:path";
import { execa } from "execa";
import fs from "fs-extra";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { takeOver } from "../../src/write/owner.ts";
import { releaseStaging, stagingName } from "../../src/write/staging.ts";
import { tree } from "../support/command.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { someFiles } from "./some-files.ts";
import { bundleWriter, writeInProcess } from "./writer-process.ts";

let bundle: string;
let entry: string;
let ended: number;
beforeAll(async () => {
  bundle = await temporaryFolder("writer");
  entry = await bundleWriter(bundle);
  const { stdout } = await execa(process.execPath, ["-p", "process.pid"]);
  ended = Number(stdout);
});
afterAll(() => fs.remove(bundle));

const count = 40;
const complete = someFiles(count)
  .map((file) => `${file.path}: ${file.content}`)
  .sort();

async function contents(directory: string): Promise<string[]> {
  const entries = (await tree(directory)).map(async (file) => {
    const at = path.join(directory, file);
    return (await fs.stat(at)).isFile() ? [`${file}: ${await fs.readFile(at, "utf8")}`] : [];
  });
  return (await Promise.all(entries)).flat().sort();
}

interface Case {
  readonly title: string;
  readonly exists: boolean;
  /** Whether a killed run has left its folder, so that all have to fight for that first. */
  readonly left: boolean;
}

const cases: Case[] = [
  { title: "a new directory", exists: false, left: false },
  { title: "a new directory, with something left", exists: false, left: true },
  { title: "a directory that exists", exists: true, left: false },
  { title: "a directory that exists, with something left", exists: true, left: true },
];

describe("many runs at one target at once", () => {
  test.each(cases)("$title: one makes it, none of the others destroys it", async ({ exists, left }) => {
    for (let round = 0; round < 3; round++) {
      const folder = await temporaryFolder("race");
      try {
        const target = path.join(folder, "target");
        if (exists) await fs.mkdir(target);
        const staging = path.join(exists ? target : folder, stagingName(target));
        if (left) await fs.outputFile(path.join(staging, `owner-${ended}@${os.hostname()}`), "");

        const runs = Array.from({ length: 4 }, () => writeInProcess(entry, target, count));
        const outcomes = await Promise.all(runs);
        expect(outcomes.filter(({ done }) => done)).toHaveLength(1);
        for (const { done, name } of outcomes) if (!done) expect(name).toBe("CommandError");
        expect(await contents(target)).toEqual(complete);
        expect(await fs.readdir(folder)).toEqual(["target"]);
      } finally {
        await fs.remove(folder);
      }
    }
  });
});

describe("what two runs may do between two steps of one another", () => {
  afterEach(() => vi.restoreAllMocks());

  test("another run takes over what was left, just as we have seen that its owner has ended", async () => {
    const folder = await temporaryFolder("race");
    try {
      const owner = path.join(folder, `owner-${ended}@${os.hostname()}`);
      const faster = path.join(folder, `owner-${process.ppid}@${os.hostname()}`);
      await fs.outputFile(owner, "");
      vi.spyOn(process, "kill").mockImplementation(() => {
        fs.renameSync(owner, faster);
        throw Object.assign(new Error("no such process"), { code: "ESRCH" });
      });
      expect(() => takeOver(folder)).toThrow(/another run is creating/);
      expect(await fs.readdir(folder)).toEqual([path.basename(faster)]);
    } finally {
      await fs.remove(folder);
    }
  });

  test("another run makes its folder, while the last files of ours are being removed", async () => {
    const folder = await temporaryFolder("race");
    try {
      const staging = path.join(folder, "staging");
      await fs.outputFile(path.join(staging, "project/ours"), "");
      const remove = nodeFs.rmSync;
      vi.spyOn(nodeFs, "rmSync").mockImplementation((at, options) => {
        if (fs.pathExistsSync(path.join(String(at), "project"))) fs.outputFileSync(`${staging}/theirs`, "");
        remove(at, options);
      });
      releaseStaging(staging);
      expect(await tree(folder)).toEqual(["staging", "staging/theirs"]);
    } finally {
      await fs.remove(folder);
    }
  });
});
