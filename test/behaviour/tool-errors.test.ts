import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { beforeAll, describe, expect, test } from "vitest";
import { type Message, projectWithTools, StdioServer } from "../support/stdio-server.ts";

let project: string;
let server: StdioServer;
beforeAll(async () => {
  project = await projectWithTools("hostile-tools.ts");
  server = await new StdioServer(project).initialize();
  return () => server.kill();
});

/** The text of a failed result. */
function failureText({ result }: Message): string {
  expect(result.isError).toBe(true);
  expect(result.content).toHaveLength(1);
  return result.content[0].text;
}

describe("a malformed call is a protocol error", () => {
  const refused = (message: string) => ({ code: -32602, message });
  const noName = refused("Invalid call: params.name must be the name of a tool");
  const noObject = refused("Invalid call: arguments must be an object");

  test.each([
    ["no params", undefined, noName],
    ["no name", { arguments: {} }, noName],
    ["a name that is a number", { name: 5 }, noName],
    ["a name that is null", { name: null }, noName],
    ["arguments that are an array", { name: "echo", arguments: ["text"] }, noObject],
    ["arguments that are a text", { name: "echo", arguments: "text" }, noObject],
    ["arguments that are a number", { name: "echo", arguments: 0 }, noObject],
    ["arguments that are null", { name: "echo", arguments: null }, noObject],
    ["arguments that are false", { name: "echo", arguments: false }, noObject],
    [
      "a progress token that is an object",
      { name: "echo", _meta: { progressToken: {} } },
      refused("Invalid params"),
    ],
  ])("%s", async (_, params, error) => {
    expect((await server.request("tools/call", params)).error).toEqual(error);
  });

  test.each(["no_such_tool", "__proto__", "constructor", "toString", "", "ECHO", " echo"])(
    "the unknown tool %j",
    async (name) => {
      const { id, error } = await server.call(name);
      expect(error).toEqual(refused(`Unknown tool: ${JSON.stringify(name)}. tools/list names all tools.`));
      const line = await server.logged({ requestId: id, message: "tool call refused" });
      expect(line).toMatchObject({ level: "warn", reason: error?.message });
    },
  );

  test("an unknown tool with an endless name is not quoted in full", async () => {
    const { error } = await server.call("👋".repeat(100_000));
    expect(error).toMatchObject({ code: -32602 });
    expect(error?.message.length).toBeLessThan(1000);
  });
});

describe("arguments that do not fit the schema", () => {
  test("each field is named, with what was expected and the allowed values", async () => {
    const answer = await server.call("nested", {
      colour: "blue",
      rows: [{ count: 1 }, { count: 9 }, {}],
      either: { id: "x" },
      shape: { kind: "triangle" },
      counts: { a: 1, long: "x" },
      color: "red",
    });
    const text = failureText(answer);
    expect(text.split("; ")).toEqual([
      'INVALID_ARGUMENTS: colour: Invalid option: expected one of "red"|"green"',
      "rows.1.count: Too big: expected number to be <=3",
      "rows.2.count: Invalid input: expected number, received undefined",
      "either: Invalid input: expected string, received object or either.id: Invalid input: expected number, received string",
      "shape.kind: Invalid discriminator value. Expected 'circle' | 'square'",
      "counts.a: Too small: expected string to have >=3 characters",
      "counts.long: Invalid input: expected number, received string",
      'arguments: Unrecognized key: "color"',
      "arguments: the fields are colour, rows, either, shape, counts",
    ]);
    expect(answer.result._meta["create-mcp-server/error"]).toEqual({
      code: "INVALID_ARGUMENTS",
      message: text.replace("INVALID_ARGUMENTS: ", ""),
      retryable: false,
    });
  });

  test("no arguments at all are an empty object", async () => {
    expect(failureText(await server.request("tools/call", { name: "echo" }))).toBe(
      "INVALID_ARGUMENTS: text: Invalid input: expected string, received undefined",
    );
    expect((await server.request("tools/call", { name: "context" })).result.isError).toBeUndefined();
  });

  test("a key called __proto__ is refused like any other", async () => {
    const params = '{"name":"echo","arguments":{"text":"a","__proto__":{"x":1}}}';
    server.write(`{"jsonrpc":"2.0","id":"proto","method":"tools/call","params":${params}}\n`);
    expect(failureText(await server.answer("proto"))).toContain("__proto__");
  });

  test("ten thousand bad items do not make an endless text", async () => {
    const text = failureText(await server.call("nested", { rows: Array(10_000).fill({}) }));
    expect(text.length).toBeLessThan(5000);
    expect(text).toContain("and 9984 more");
    const keys = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`key${i}`, i]));
    expect(failureText(await server.call("echo", keys)).length).toBeLessThan(5000);
  });
});

describe("a business failure", () => {
  test("tells the client code, message and whether to retry, and nothing of the cause", async () => {
    for (const retryable of [true, false]) {
      const answer = await server.call("fails", { retryable });
      expect(answer.result).toEqual({
        isError: true,
        content: [{ type: "text", text: "OUT_OF_STOCK: Nothing is left. Order tomorrow." }],
        _meta: {
          traceparent: expect.stringMatching(/^00-[\da-f]{32}-[\da-f]{16}-01$/),
          "create-mcp-server/error": {
            code: "OUT_OF_STOCK",
            message: "Nothing is left. Order tomorrow.",
            retryable,
          },
        },
      });
      const line = await server.logged({ requestId: answer.id, message: "tool call failed" });
      // Only accidents have a stack in the log, and causes.
      expect(line.error).not.toHaveProperty("stack");
      expect(line).toMatchObject({
        level: "warn",
        tool: "fails",
        arguments: { retryable },
        error: {
          code: "OUT_OF_STOCK",
          cause: { message: "the cause of it", stack: expect.stringContaining("hostile") },
          details: { status: 503, body: "the upstream's answer" },
        },
      });
    }
  });

  test("is structured content too where the tool declares no output schema", async () => {
    const failure = { code: "NO_TEXT", message: "There is no text. Ask for how=text.", retryable: false };
    const { result } = await server.call("as_text", { how: "failure" });
    expect(result.structuredContent).toEqual(failure);
    expect(result._meta["create-mcp-server/error"]).toEqual(failure);
  });
});

describe("anything unexpected", () => {
  const fixed = /^Internal error\. The server's log has the details under trace id ([\da-f]{32})\.$/;

  /** Expects the fixed sentence, and returns the log line with the same trace id. */
  async function expectInternalError(answer: Message): Promise<Record<string, unknown>> {
    expect(answer.error).toMatchObject({ code: -32603, message: expect.stringMatching(fixed) });
    const traceId = fixed.exec(answer.error?.message ?? "")?.[1];
    expect(answer.error?.data).toEqual({ traceId });
    expect(JSON.stringify(answer)).not.toMatch(/hunter2|postgres|story|thrown/);
    const line = await server.logged({ traceId, message: "tool call broke" });
    expect(line).toMatchObject({ level: "error", requestId: answer.id, durationMs: expect.any(Number) });
    return line;
  }

  test("an error with a connection string", async () => {
    const line = await expectInternalError(
      await server.call("breaks", { what: "error", password: "hunter2" }),
    );
    expect(line).toMatchObject({
      tool: "breaks",
      arguments: { what: "error", password: "[redacted]" },
      error: {
        name: "Error",
        message: "connect to postgres://[redacted]@db.internal/orders failed",
        stack: expect.stringContaining("hostile"),
      },
    });
    expect(JSON.stringify(line)).not.toContain("hunter2");
  });

  test("an error with causes", async () => {
    expect(await expectInternalError(await server.call("breaks", { what: "cause" }))).toMatchObject({
      error: {
        message: "outer story",
        cause: { message: "both stories", errors: [{ message: "inner story" }] },
      },
    });
  });

  test("an error that carries a JSON-RPC code of its own", async () => {
    await expectInternalError(await server.call("breaks", { what: "code" }));
  });

  test("what is thrown and is no error", async () => {
    const line = await expectInternalError(await server.call("breaks", { what: "string" }));
    expect(line.error).toBe("thrown text hunter2");
    await expectInternalError(await server.call("breaks", { what: "null" }));
    await expectInternalError(await server.call("breaks", { what: "undefined" }));
  });

  test("a handler that throws before it returns a promise", async () => {
    await expectInternalError(await server.call("breaks_at_once"));
  });

  test.each(["wrong", "nan", "bigint", "cyclic", "nothing"])("a result that is wrong: %s", async (what) => {
    await expectInternalError(await server.call("answers", { what }));
  });

  test("a tool without an output schema that returns no text", async () => {
    await expectInternalError(await server.call("as_text", { how: "nothing" }));
  });
});

describe("a result", () => {
  test("has the same data as structured content and as text", async () => {
    const { result } = await server.call("echo", { text: "a" });
    expect(result).toEqual({
      content: [{ type: "text", text: '{"text":"a"}' }],
      structuredContent: { text: "a" },
      _meta: { traceparent: expect.any(String) },
    });
  });

  test("is text where the tool declares no output schema", async () => {
    const { result } = await server.call("as_text", { how: "text" });
    expect(result.content).toEqual([{ type: "text", text: "a text" }]);
    expect(result.structuredContent).toBeUndefined();
  });

  test("loses keys that the output schema lacks", async () => {
    const { result } = await server.call("answers", { what: "extra" });
    expect(result.structuredContent).toEqual({ id: "1" });
    expect(result.content[0].text).toBe('{"id":"1"}');
  });

  test("can be huge", async () => {
    const { result } = await server.call("answers", { what: "huge" });
    expect(result.structuredContent.anything.length).toBe(5_000_000);
  });
});

describe("the trace", () => {
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const sent = `00-${traceId}-b7ad6b7169203331-00`;

  test("of the client is continued, under a span of our own", async () => {
    const { id, result } = await server.call("context", {}, { traceparent: sent });
    expect(result._meta.traceparent).toMatch(
      new RegExp(`^00-${traceId}-(?!b7ad6b7169203331)[\\da-f]{16}-00$`),
    );
    expect(result.structuredContent).toEqual({
      requestId: id,
      traceId,
      traceparent: result._meta.traceparent,
      anonymous: true,
    });
    expect(await server.logged({ traceId })).toMatchObject({ tool: "context", requestId: id });
  });

  test("is new for each call where the client sends none", async () => {
    const ids = [await server.call("context"), await server.call("context")].map(
      ({ result }) => result.structuredContent.traceId,
    );
    expect(new Set(ids).size).toBe(2);
  });

  test.each([
    `00-${"0".repeat(32)}-b7ad6b7169203331-01`,
    `00-${traceId}-${"0".repeat(16)}-01`,
    `ff-${traceId}-b7ad6b7169203331-01`,
    `00-${traceId.toUpperCase()}-b7ad6b7169203331-01`,
    `00-${traceId}-b7ad6b7169203331-01-more`,
    `00-${traceId}-b7ad6b7169203331`,
    ` ${sent}`,
    `${sent}\n`,
    "",
    5,
    null,
    [sent],
  ])("is not taken from an invalid traceparent: %j", async (traceparent) => {
    const { result } = await server.call("context", {}, { traceparent });
    expect(result.structuredContent.traceId).toMatch(/^(?!0{32})[\da-f]{32}$/);
    expect(result.structuredContent.traceId).not.toBe(traceId);
  });
});

test("the official client sees each kind of answer", async () => {
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: ["dist/index.js"],
      cwd: project,
      stderr: "ignore",
    }),
  );
  try {
    // With the list, the client knows the output schemas and checks every result.
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("echo");
    const { structuredContent } = await client.callTool({ name: "echo", arguments: { text: "a" } });
    expect(structuredContent).toEqual({ text: "a" });
    expect(await client.callTool({ name: "fails", arguments: { retryable: true } })).toMatchObject({
      isError: true,
    });
    expect(await client.callTool({ name: "fails", arguments: {} })).toMatchObject({ isError: true });
    await expect(client.callTool({ name: "no_such_tool" })).rejects.toMatchObject({
      code: -32602,
      message: 'MCP error -32602: Unknown tool: "no_such_tool". tools/list names all tools.',
    });
    await expect(client.callTool({ name: "breaks", arguments: { what: "error" } })).rejects.toMatchObject({
      code: -32603,
      message: expect.stringMatching(/^MCP error -32603: Internal error\. The server's log /),
    });
  } finally {
    await client.close();
  }
});
