import path from "node:path";
import { execa } from "execa";
import fc from "fast-check";
import fs from "fs-extra";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { toString as markdownText } from "mdast-util-to-string";
import { gfm } from "micromark-extension-gfm";
import { parseSync } from "rolldown/utils";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { toolNamesProblem } from "../src/options/tool-names.ts";
import { planProject } from "../src/plan/plan.ts";
import { run } from "./support/command.ts";
import { plainAnswers } from "./support/generated.ts";
import { temporaryFolder } from "./support/temporary.ts";
import { workspace } from "./support/workspace.ts";

/** Everything that has a file of its own. */
const everything = {
  ...plainAnswers,
  transport: "both",
  auth: "token",
  samples: true,
  progress: true,
  docker: true,
  deploy: "kubernetes",
  ci: true,
  pm: "pnpm",
} as const;

/** What breaks templates, shells and parsers, beside all that Unicode has. */
const hostile = [
  "'",
  '"',
  "`",
  "\\",
  "$" + "{x}",
  "$" + "{{ github.ref }}",
  "{{name}}",
  "{{{",
  "</script><!--",
  "<b>&amp;</b>",
  "*/",
  "//",
  "#!",
  "- ",
  ": ",
  " #",
  "---",
  "***",
  "> ",
  "1. ",
  "| a |",
  "~~~",
  "[a](b)",
  "![a](b)",
  "<a@b.c>",
  "www.a.b",
  "_x_",
  "$(rm -rf .)",
  "%PATH%",
  "&copy;",
  "שלום",
  "مرحبا",
  "👩‍👩‍👧‍👦",
  "\u202e",
  "\u2028",
  "\u2029",
  "\ufeff",
  "\u00a0",
  "   ",
];

const description = fc
  .array(fc.oneof(fc.string({ unit: "binary", maxLength: 20 }), fc.constantFrom(...hostile)), {
    minLength: 1,
    maxLength: 24,
  })
  .map((parts) => [...parts.join("")].slice(0, 500).join(""))
  .filter((text) => text.trim() !== "" && !/[\p{Cc}\p{Cs}]/u.test(text));

describe("descriptions", () => {
  const baseline = new Map(planProject(everything).map((file) => [file.path, file.content]));

  test("every generated file parses in its own language, and the text arrives unchanged", () => {
    fc.assert(
      fc.property(description, (text) => {
        for (const file of planProject({ ...everything, description: text })) {
          const arrived = textIn(file.path, file.content);
          if (arrived === undefined) expect(file.content, file.path).toBe(baseline.get(file.path));
          else expect(arrived, file.path).toBe(text);
        }
      }),
      { numRuns: 500 },
    );
  });

  /** The description as a reader of the file sees it, or nothing where the file does not carry it. */
  function textIn(file: string, content: string): string | undefined {
    if (file === "package.json") return JSON.parse(content).description;
    if (file === ".create-mcp-server.json") return JSON.parse(content).answers.description;
    if (file === "README.md") return paragraphAfterTitle(content);
    return undefined;
  }

  function paragraphAfterTitle(markdown: string): string {
    const tree = fromMarkdown(markdown, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
    const [title, paragraph] = tree.children;
    expect([title?.type, paragraph?.type]).toEqual(["heading", "paragraph"]);
    return markdownText(paragraph);
  }

  test("what the command line is given arrives in package.json", async () => {
    const folder = await temporaryFolder("property");
    try {
      await fc.assert(
        fc.asyncProperty(description, async (text) => {
          const flags = ["--yes", "--no-install", "--no-git", `--description=${text}`];
          const { exitCode, stderr } = await run(["x", ...flags], { cwd: folder });
          expect(exitCode, stderr).toBe(0);
          expect((await fs.readJson(path.join(folder, "x/package.json"))).description).toBe(text);
          await fs.remove(path.join(folder, "x"));
        }),
        { numRuns: 25 },
      );
    } finally {
      await fs.remove(folder);
    }
  });

  test("control characters and length are refused, and nothing else", async () => {
    const folder = await temporaryFolder("property");
    const refused = fc.oneof(
      fc
        .string({ unit: "binary", minLength: 501, maxLength: 600 })
        .filter((text) => [...text].length > 500 && !text.includes("\0")),
      fc
        .tuple(description, fc.integer({ min: 1, max: 31 }), description)
        .map(
          ([before, code, after]) => before.slice(0, 200) + String.fromCharCode(code) + after.slice(0, 200),
        ),
    );
    try {
      await fc.assert(
        fc.asyncProperty(refused, async (text) => {
          const { exitCode } = await run(
            ["x", "--yes", "--no-install", "--no-git", `--description=${text}`],
            { cwd: folder },
          );
          expect(exitCode).toBe(2);
          expect(await fs.readdir(folder)).toEqual([]);
        }),
        { numRuns: 15 },
      );
    } finally {
      await fs.remove(folder);
    }
  });
});

describe("tool names", () => {
  const name = fc.oneof(
    fc.stringMatching(/^[a-zA-Z0-9_-]{1,64}$/),
    fc.constantFrom(
      "list_repos",
      "close-issue",
      "2fast",
      "toString",
      "constructor",
      "class",
      "await",
      "index",
      "con",
      "_",
      "A",
    ),
  );
  const names = fc
    .uniqueArray(name, { minLength: 1, maxLength: 12 })
    .filter((list) => toolNamesProblem(list, { samples: true }) === undefined);

  test("give files that parse, with an identifier for each", () => {
    fc.assert(
      fc.property(names, (tools) => {
        const files = planProject({ ...everything, tools });
        for (const file of files.filter(({ path: at }) => at.endsWith(".ts"))) {
          expect(parseSync(file.path, file.content).errors, file.path).toEqual([]);
        }
        const registry = files.find((file) => file.path === "src/tools/index.ts");
        expect(registry?.content.match(/^\t\w+,$/gm)).toHaveLength(tools.length + 3);
      }),
      { numRuns: 200 },
    );
  });

  test("give projects that type-check and lint", { timeout: 120_000 }, async () => {
    const project = path.join(workspace, `names-${process.pid}`);
    const many = new Set([
      "list_repos",
      "close-issue",
      "2fast",
      "toString",
      "index",
      "a".repeat(64),
      "B_".repeat(32),
    ]);
    for (const list of fc.sample(names, 12)) {
      for (const candidate of list) {
        if (toolNamesProblem([...many, candidate], { samples: true }) === undefined) many.add(candidate);
      }
    }
    try {
      for (const file of planProject({ ...everything, tools: [...many] })) {
        await fs.outputFile(path.join(project, file.path), file.content);
      }
      for (const script of ["typecheck", "lint"]) {
        const { exitCode, all } = await execa("npm", ["run", script], {
          cwd: project,
          all: true,
          reject: false,
        });
        expect(exitCode, all).toBe(0);
      }
    } finally {
      await fs.remove(project);
    }
  });
});

test("every YAML and JSON file of a hostile project parses", () => {
  fc.assert(
    fc.property(description, (text) => {
      for (const file of planProject({ ...everything, description: text, name: "@acme/my.server_2" })) {
        if (/\.ya?ml$/.test(file.path))
          for (const document of parseAllDocuments(file.content))
            expect(document.errors, file.path).toEqual([]);
        if (file.path.endsWith(".json")) JSON.parse(file.content);
      }
    }),
    { numRuns: 50 },
  );
});
