import path from "node:path";
import fs from "fs-extra";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { builtProject } from "../support/generated.ts";
import { projectWithTools, type StdioServer, startServer } from "../support/stdio-server.ts";
import { temporaryFolder } from "../support/temporary.ts";

/** What a server that must not start says on stderr. */
async function refusal(server: StdioServer): Promise<string[]> {
  expect(await server.ended).toMatchObject({ code: 1, signal: null });
  expect(server.stdout.all).toEqual([]);
  expect(server.stderr.all.filter((line) => /^\s+at /.test(line))).toEqual([]);
  return server.stderr.all;
}

describe("configuration", () => {
  let project: string;
  beforeAll(async () => {
    project = await builtProject({ samples: true, progress: true });
  });

  test("every bad variable is named with what was expected, and no value is printed", async () => {
    const env = { MCP_LOG_LEVEL: "loud-hunter2", ORDERS_URL: "nonsense-hunter2" };
    const lines = await refusal(startServer(project, { env }));
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^Cannot start: MCP_LOG_LEVEL: .*"debug"\|"info"\|"warn"\|"error"/);
    expect(lines[1]).toMatch(/^Cannot start: ORDERS_URL: .*URL/);
    expect(lines.join()).not.toContain("hunter2");
  });

  test.each(["ftp://example.com", "example.com", "http://", "http://app:hunter2@example.com"])(
    "ORDERS_URL=%s is refused",
    async (url) => {
      const lines = await refusal(startServer(project, { env: { ORDERS_URL: url } }));
      expect(lines).toEqual([expect.stringMatching(/^Cannot start: ORDERS_URL: /)]);
    },
  );

  test("an .env that cannot be read is said in one line", async () => {
    const folder = await builtProject({}, { ".env/mounted-by-mistake": "" });
    const lines = await refusal(startServer(folder));
    expect(lines).toEqual(["Cannot start: .env is there and cannot be read"]);
  });

  test("a variable that is set to nothing is not set", async () => {
    const server = startServer(project, { env: { MCP_LOG_LEVEL: "", ORDERS_URL: "" } });
    await server.initialize();
    const { result } = await server.call("query_order", { orderId: "ORD-1001" });
    expect(result.structuredContent).toMatchObject({ id: "ORD-1001" });
  });

  test("an .env beside package.json is read, is outranked by the environment, and never printed", async () => {
    const folder = await temporaryFolder("dotenv");
    onTestFinished(() => fs.remove(folder));
    await fs.copy(project, folder);
    await fs.ensureSymlink(path.join(project, "..", "node_modules"), path.join(folder, "node_modules"));
    await fs.writeFile(path.join(folder, ".env"), "MCP_LOG_LEVEL=debug-hunter2\nOTHER=hunter2\n");
    const lines = await refusal(startServer(folder, { cwd: "/" }));
    expect(lines).toEqual([expect.stringMatching(/^Cannot start: MCP_LOG_LEVEL: /)]);
    expect(lines.join()).not.toContain("hunter2");

    const server = startServer(folder, { cwd: "/", env: { MCP_LOG_LEVEL: "debug" } });
    await server.initialize();
    server.process.stdin?.end();
    expect(await server.ended).toMatchObject({ code: 0 });
    expect(server.stderr.all.join()).not.toContain("hunter2");
  });
});

describe("tools that clients could not use", () => {
  let project: string;
  beforeAll(async () => {
    project = await projectWithTools("refused-tools.ts", { progress: false });
  });

  test.each([
    ["date", "Tool with_date: its schema cannot be shown to clients: "],
    ["date_out", "Tool with_date_out: its schema cannot be shown to clients: "],
    ["any", "Tool with_any: its schema cannot be shown to clients: "],
    ["described_any", "Tool with_described_any: its schema cannot be shown to clients: "],
    ["recursive", "Tool with_recursion: its schema cannot be shown to clients: "],
    ["shared", "Tool with_reference: its schema cannot be shown to clients: "],
    ["duplicate", "Tool twice: two tools have this name"],
    ["dot", 'Tool "a.b": a name has 1 to 64 letters, digits, "_" or "-"'],
    ["long", `Tool "${"x".repeat(65)}": a name has 1 to 64 letters`],
    ["empty", 'Tool "": a name has 1 to 64 letters'],
  ])("%s: the start is refused and the tool named", async (tools, reason) => {
    const lines = await refusal(startServer(project, { env: { TEST_TOOLS: tools } }));
    expect(lines).toEqual([expect.stringContaining(`Cannot start: ${reason}`)]);
  });

  test("what only looks like them is served", async () => {
    const server = await startServer(project).initialize();
    const { result } = await server.request("tools/list");
    expect(result.tools.map(({ name }: { name: string }) => name)).toEqual([
      "example",
      "tuple",
      "named",
      "defaults",
    ]);
  });
});
