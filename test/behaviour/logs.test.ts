import { beforeAll, describe, expect, test } from "vitest";
import { parseLog, projectWithTools, StdioServer, startServer } from "../support/stdio-server.ts";

let project: string;
beforeAll(async () => {
  project = await projectWithTools("hostile-tools.ts");
});

const serve = (env?: Record<string, string>) => startServer(project, env ? { env } : {}).initialize();

/** All that a server logged until its end. */
async function logOf(server: StdioServer): Promise<Record<string, unknown>[]> {
  server.process.stdin?.end();
  await server.ended;
  return server.stderr.all.filter((line) => line.startsWith("{")).map(parseLog);
}

test("every call leaves a line with time, level, message, request id, tool and duration", async () => {
  const server = await serve();
  const { id } = await server.call("echo", { text: "hunter2" });
  const lines = (await logOf(server)).filter((line) => line.tool === "echo");
  expect(lines).toEqual([
    {
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      level: "info",
      message: "tool call done",
      requestId: id,
      tool: "echo",
      traceId: expect.stringMatching(/^[\da-f]{32}$/),
      durationMs: expect.any(Number),
    },
  ]);
});

test("the duration is that of the call", async () => {
  const server = await serve();
  await server.call("waits", { ms: 120 });
  const { durationMs } = await server.logged({ message: "tool call done" });
  expect(durationMs).toBeGreaterThanOrEqual(119);
  expect(durationMs).toBeLessThan(2000);
});

describe("a tool that logs what it should not", () => {
  let lines: Record<string, unknown>[];
  let bytes: string;
  beforeAll(async () => {
    const server = await new StdioServer(project).initialize();
    expect((await server.call("logs")).result.structuredContent).toEqual({ done: true });
    lines = await logOf(server);
    bytes = server.stderr.all.join("\n");
  });
  const line = (message: string) => lines.find((entry) => entry.message === message);

  test("no secret is written: keys at any depth, tokens, URLs, JSON in a text, children", () => {
    expect(bytes).not.toContain("hunter2");
    expect(line("secrets with Bearer [redacted]")).toMatchObject({
      password: "[redacted]",
      headers: [{ Authorization: "[redacted]", "x-api-key": "[redacted]", accept: "text/html" }],
      url: "https://[redacted]@example.com/?access_token=[redacted]&page=2",
      text: "Authorization: Bearer [redacted] and Password=[redacted];Server=db",
      body: '{"refresh_token": "[redacted]", "plain": "to be seen"}',
    });
    expect(line("containers")).toMatchObject({ token: "[redacted]", credentials: "[redacted]" });
    expect(line("a child")).toMatchObject({ clientSecret: "[redacted]", tool: "logs" });
  });

  test("cyclic, deep and huge objects do not break it", () => {
    expect(line("a cyclic object")).toMatchObject({ cyclic: { name: "cyclic" } });
    expect(JSON.stringify(line("a deep object")?.deep).length).toBeLessThan(200);
    expect(line("a huge object")).toBeDefined();
    expect(line("a buffer")).toMatchObject({ bytes: "[1000000 bytes]", big: 5 });
    expect(line("a trap")).toMatchObject({ trap: "[unreadable]" });
    expect(line("a huge key")).toBeDefined();
    expect(line("what makes slow patterns slow")).toBeDefined();
    for (const entry of lines) expect(JSON.stringify(entry).length).toBeLessThan(300_000);
    expect(line("tool call done")?.durationMs).toBeLessThan(1000);
  });

  test("causes are written with their stacks", () => {
    expect(line("causes")).toMatchObject({
      error: {
        name: "Error",
        message: "outer",
        stack: expect.stringContaining("hostile"),
        cause: { name: "Error", message: "inner", stack: expect.stringContaining("hostile") },
      },
    });
  });
});

test("MCP_LOG_LEVEL says from which level on", async () => {
  for (const [level, messages] of [
    ["debug", ["a detail", "a child", "causes"]],
    ["info", ["a child", "causes"]],
    ["warn", ["causes"]],
    ["error", ["causes"]],
  ] as const) {
    const server = await serve({ MCP_LOG_LEVEL: level });
    await server.call("logs");
    const seen = (await logOf(server)).map(({ message }) => message);
    expect(seen.filter((message) => ["a detail", "a child", "causes"].includes(String(message)))).toEqual(
      messages,
    );
    expect(seen.includes("tool call done")).toBe(level === "debug" || level === "info");
  }
});

test("an error outside of any call is logged, and ends the server with 1", async () => {
  const server = await serve();
  const { result } = await server.call("crashes");
  expect(result.structuredContent).toEqual({ done: true });
  expect(await server.ended).toMatchObject({ code: 1 });
  expect(await server.logged({ message: "uncaught exception" })).toMatchObject({
    level: "fatal",
    error: { message: "nobody waits for postgres://[redacted]@db" },
  });
  expect(server.stderr.all.join()).not.toContain("hunter2");
});
