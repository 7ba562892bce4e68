import { readdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { Answers } from "../src/options/declaration.ts";
import { type PlannedFile, planProject } from "../src/plan/plan.ts";
import { combinations } from "./support/combinations.ts";

/**
 * The pinned output of every combination, kept so that it can be read:
 *
 * - `snapshots/files.txt` says for each generated file which choices it depends on, and which of its variants (or
 *   none) each assignment of those choices gets. It expands to the list of files of every combination.
 * - `snapshots/files/<path>/<variant>` holds each distinct content once.
 *
 * Accept a change with `npx vitest run test/snapshots.test.ts --update`, and read it.
 */
const folder = path.join(import.meta.dirname, "snapshots");

const choices = [
  "transport",
  "auth",
  "sdk",
  "samples",
  "own tools",
  "docker",
  "deploy",
  "progress",
  "ci",
  "pm",
] as const;
type Choice = (typeof choices)[number];

/** What a combination says to a choice, as one word. */
function word(answers: Answers, choice: Choice): string {
  return String(choice === "own tools" ? answers.tools.length > 0 : answers[choice]);
}

/** The manifest repeats the answers and a hash of every file; it has a test of its own. */
const withoutManifest = (answers: Answers) =>
  planProject(answers).filter((file) => file.path !== ".create-mcp-server.json");

/**
 * The README depends on every choice there is, so it is pinned in parts, of which each depends on few: its sections,
 * and the rows of its table of files. Its outline says which of them make the whole.
 */
function inParts({ path: file, content }: PlannedFile): [string, string][] {
  if (file !== "README.md") return [[file, content]];
  const parts = content.split(/^(?=## |\| `(?:src|test|Dockerfile|pnpm|\.))/m).map((part) => {
    const words = part
      .split("\n")[0]
      ?.replaceAll(/[^\w.]+/g, "-")
      .slice(0, 30);
    return [`${file}/${words}`, part] as [string, string];
  });
  return [[`${file}/outline`, parts.map(([name]) => `${name}\n`).join("")], ...parts];
}

const plans = combinations.map((answers) => ({
  answers,
  files: new Map(withoutManifest(answers).flatMap(inParts)),
}));

test("parts are told apart by their names", () => {
  for (const answers of combinations) {
    for (const file of withoutManifest(answers)) {
      const names = inParts(file).map(([name]) => name);
      expect(new Set(names).size).toBe(names.length);
    }
  }
});

const paths = [...new Set(plans.flatMap(({ files }) => [...files.keys()]))].sort();

/** The variants of a file, named a, b, c ... in the order in which the combinations bring them up. */
function variantsOf(file: string): Map<string, string> {
  const contents = new Set(plans.flatMap(({ files }) => files.get(file) ?? []));
  return new Map([...contents].map((content, index) => [content, variantName(index)]));
}

function variantName(index: number): string {
  const letter = String.fromCharCode("a".charCodeAt(0) + (index % 26));
  return index < 26 ? letter : variantName(Math.floor(index / 26) - 1) + letter;
}

/** The fewest choices that settle a file's content. */
function decidingChoices(file: string): Choice[] {
  const deciding = [...choices] as Choice[];
  for (const choice of choices) {
    const without = deciding.filter((other) => other !== choice);
    if (settles(without, file)) deciding.splice(deciding.indexOf(choice), 1);
  }
  return deciding;
}

function settles(some: Choice[], file: string): boolean {
  const seen = new Map<string, string | undefined>();
  return plans.every(({ answers, files }) => {
    const key = some.map((choice) => word(answers, choice)).join(" ");
    const content = files.get(file);
    if (!seen.has(key)) seen.set(key, content);
    return seen.get(key) === content;
  });
}

function tableOf(file: string): string[] {
  const variants = variantsOf(file);
  const deciding = decidingChoices(file);
  const rows = new Map<string, string>();
  for (const { answers, files } of plans) {
    const content = files.get(file);
    const key = deciding.map((choice) => `${choice}=${word(answers, choice)}`).join(" ");
    rows.set(key, content === undefined ? "-" : (variants.get(content) as string));
  }
  return [file, ...[...rows].map(([key, variant]) => `  ${variant}  ${key || "always"}`)];
}

describe("generated output", () => {
  test("the files of every combination are pinned", async () => {
    const table = paths.flatMap((file) => [...tableOf(file), ""]).join("\n");
    await expect(table).toMatchFileSnapshot(path.join(folder, "files.txt"));
  });

  test.each(paths)("each distinct content of %s is pinned once", async (file) => {
    for (const [content, variant] of variantsOf(file)) {
      await expect(content).toMatchFileSnapshot(path.join(folder, "files", file, variant));
    }
  });

  test("nothing is pinned that nobody gets", () => {
    const files = path.join(folder, "files");
    const stored = readdirSync(files, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) =>
        path.relative(files, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, "/"),
      );
    const made = paths.flatMap((file) =>
      [...variantsOf(file).values()].map((variant) => `${file}/${variant}`),
    );
    expect(stored.sort()).toEqual(made.sort());
  });

  test.each(["pm", "docker", "deploy", "ci"] as const)(
    "%s never changes src/, test/ or what package.json runs",
    (choice) => {
      for (const file of paths.filter((name) => /^(src|test)\/|^tsconfig/.test(name))) {
        expect(decidingChoices(file), file).not.toContain(choice);
      }
      const others = choices.filter((other) => other !== choice);
      const scripts = new Map<string, string>();
      for (const { answers, files } of plans) {
        const { allowScripts, resolutions, ...rest } = JSON.parse(files.get("package.json") as string);
        const key = others.map((other) => word(answers, other)).join(" ");
        expect(JSON.stringify(rest)).toBe(scripts.get(key) ?? JSON.stringify(rest));
        scripts.set(key, JSON.stringify(rest));
      }
    },
  );
});
