import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import packageJson from "../package.json" with { type: "json" };
import { contentHash } from "../src/plan/manifest.ts";
import { planProject } from "../src/plan/plan.ts";
import { combinations } from "./support/combinations.ts";

describe("the manifest of every combination", () => {
  test.each([0, 1, 2])(
    "records the answers, the template version and a hash of each other file (part %i)",
    (part) => {
      for (const answers of combinations.filter((_, index) => index % 3 === part)) {
        const files = planProject(answers);
        const manifest = JSON.parse(
          files.find((file) => file.path === ".create-mcp-server.json")?.content ?? "",
        );
        const others = files.filter((file) => file.path !== ".create-mcp-server.json");
        expect(manifest).toEqual({
          templateVersion: packageJson.version,
          answers,
          files: Object.fromEntries(
            others.map(({ path, content }) => [
              path,
              `sha256-${createHash("sha256").update(content).digest("base64url")}`,
            ]),
          ),
        });
      }
    },
  );

  test("its hashes do not change with the line endings", () => {
    expect(contentHash("a\r\nb\r\n")).toBe(contentHash("a\nb\n"));
    expect(contentHash("a\nb")).not.toBe(contentHash("a\nb\n"));
  });
});

test("the plan is pure: the same answers give the same bytes", () => {
  for (const answers of combinations.slice(0, 40)) {
    expect(planProject(answers)).toEqual(planProject(structuredClone(answers)));
  }
});

test("every path of every combination is relative, and none of them twice", () => {
  for (const answers of combinations) {
    const paths = planProject(answers).map((file) => file.path);
    expect(new Set(paths.map((path) => path.toLowerCase())).size).toBe(paths.length);
    expect(paths).toEqual(paths.toSorted());
    for (const path of paths) expect(path).toMatch(/^[\w.-]+(\/[\w.-]+)*$/);
  }
});

test("the default stdio project has at most 20 files besides the samples' folder", () => {
  const paths = planProject({
    name: "x",
    description: "x",
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
  }).map((file) => file.path);
  expect(paths.filter((path) => !path.startsWith("src/tools/samples/")).length).toBeLessThanOrEqual(20);
});
