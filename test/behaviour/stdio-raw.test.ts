import { readFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { initializeParams, projectWithTools, StdioServer, startServer } from "../support/stdio-server.ts";

let project: string;
beforeAll(async () => {
  project = await projectWithTools("hostile-tools.ts");
});

const serve = () => startServer(project).initialize();

/** The server still answers, and nothing but JSON-RPC has come over stdout. */
async function expectAlive(server: StdioServer): Promise<void> {
  const { result } = await server.call("echo", { text: "alive" });
  expect(result.structuredContent).toEqual({ text: "alive" });
  for (const message of server.messages()) expect(message).toMatchObject({ jsonrpc: "2.0" });
}

test.each(["stdio", "both"] as const)(
  "transport %s: whatever is printed goes to stderr",
  async (transport) => {
    const folder = await projectWithTools("hostile-tools.ts", { transport });
    const server = await startServer(folder, { env: { MCP_TRANSPORT: "stdio" } }).initialize();
    expect((await server.call("prints")).result.structuredContent).toEqual({ done: true });
    await expectAlive(server);
    expect(server.stdout.all).toHaveLength(3);
    const printed = [
      "printed while the module is loaded",
      "written while the module is loaded",
      "console.log",
      "console.info",
      "console.debug",
      "a console of its own",
      "process.stdout.write",
      "bytes",
      "piped",
    ];
    for (const text of printed) expect(server.stderr.all).toContain(text);
  },
);

test("blank lines are skipped, and CRLF ends a line too", async () => {
  const server = await serve();
  server.write('\n\r\n   \n{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n\r\n');
  expect(await server.answer(1)).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
  await expectAlive(server);
  expect(server.messages().filter(({ error }) => error)).toEqual([]);
});

test("a message arrives in single bytes, split inside of characters", async () => {
  const server = await serve();
  const text = "Grüße 👋🏽 日本";
  const message = Buffer.from(
    `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "echo", arguments: { text } } })}\n`,
  );
  for (const byte of message) {
    server.write(Uint8Array.of(byte));
    // Each byte is to arrive as a chunk of its own.
    await new Promise(setImmediate);
  }
  expect((await server.answer(1)).result.structuredContent).toEqual({ text });
});

test("several messages arrive in one chunk, with the start of the next", async () => {
  const server = await serve();
  const ping = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`;
  server.write(`${ping(1)}${ping(2)}${ping(3).slice(0, 20)}`);
  await server.answer(2);
  server.write(ping(3).slice(20));
  expect(await server.answer(3)).toMatchObject({ result: {} });
  expect(server.messages().map(({ id }) => id)).toEqual(["initialize", 1, 2, 3]);
});

test("U+2028 and U+2029 do not end a message", async () => {
  const server = await serve();
  const text = "one\u2028two\u2029three\u0085four";
  expect((await server.call("echo", { text })).result.structuredContent).toEqual({ text });
});

test("a message of 9 MB is answered", async () => {
  const server = await serve();
  const text = "x".repeat(9_000_000);
  const { result } = await server.call("echo", { text });
  expect(result.structuredContent.text.length).toBe(text.length);
});

test("a line without an end is refused and ends the connection, not the memory", async () => {
  const server = await serve();
  const chunk = Buffer.alloc(1_000_000, "x");
  for (let i = 0; i < 12; i += 1) server.write(chunk);
  expect(await server.answer(null)).toMatchObject({ error: { code: -32600 } });
  expect(await server.ended).toMatchObject({ code: 0 });
});

describe("one line after the other", () => {
  let server: StdioServer;
  beforeAll(async () => {
    server = await new StdioServer(project).initialize();
    return () => server.kill();
  });

  test.each(["0", '"a string"', '"0"', '""', "-1", "9007199254740991"])(
    "the id %s comes back",
    async (id) => {
      const answers = await server.answersTo(`{"jsonrpc":"2.0","id":${id},"method":"tools/list"}`);
      expect(answers).toMatchObject([{ id: JSON.parse(id), result: {} }]);
    },
  );

  test.each([
    ["a batch", '[{"jsonrpc":"2.0","id":1,"method":"ping"}]'],
    ["an empty batch", "[]"],
    ["a number", "5"],
    ["null", "null"],
    ["an object of another kind", '{"id":1}'],
    ["a method that is no text", '{"jsonrpc":"2.0","id":1,"method":5}'],
    ["an id that is null", '{"jsonrpc":"2.0","id":null,"method":"ping"}'],
    ["an id that is an object", '{"jsonrpc":"2.0","id":{},"method":"ping"}'],
    ["a response that is none", '{"jsonrpc":"2.0","id":1,"result":5}'],
    ["an error that is none", '{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}'],
    ["__proto__ as a key", '{"__proto__":{"jsonrpc":"2.0","id":1,"method":"ping"}}'],
  ])("%s is refused without an id", async (_, line) => {
    const error = { code: -32600, message: "Invalid request" };
    expect(await server.answersTo(line)).toEqual([{ jsonrpc: "2.0", id: null, error }]);
  });

  test("broken JSON is answered with -32700 and no id", async () => {
    const answers = await server.answersTo('{"jsonrpc": "2.0", "id": 7, "method": ');
    expect(answers).toEqual([{ jsonrpc: "2.0", id: null, error: { code: -32700, message: "Parse error" } }]);
  });

  test("another version of JSON-RPC is refused under its id", async () => {
    const answers = await server.answersTo('{"jsonrpc":"1.0","id":1,"method":"ping","params":{}}');
    expect(answers).toMatchObject([{ id: 1, error: { code: -32600, message: "Invalid request" } }]);
  });

  test.each([
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":null}',
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}',
    '{"jsonrpc":"2.0","method":"notifications/unheard_of"}',
    '{"jsonrpc":"2.0","id":1,"result":{}}',
  ])("no request, so no answer: %s", async (line) => {
    expect(await server.answersTo(line)).toEqual([]);
  });

  test.each(["no/such", "resources/list", "logging/setLevel", "__proto__"])(
    "the unknown method %s is refused with -32601",
    async (method) => {
      expect((await server.request(method, {})).error).toEqual({ code: -32601, message: "Method not found" });
    },
  );

  test.each(["null", "[]", '"text"', "5"])("tools/call and tools/list with params %s", async (params) => {
    const error = { code: -32602, message: "Invalid params" };
    for (const method of ["tools/call", "tools/list"]) {
      const answers = await server.answersTo(
        `{"jsonrpc":"2.0","id":0,"method":"${method}","params":${params}}`,
      );
      expect(answers).toEqual([{ jsonrpc: "2.0", id: 0, error }]);
    }
  });
});

test("server/discover before initialize is refused, and the handshake goes on", async () => {
  const server = startServer(project);
  server.send({ id: 1, method: "server/discover", params: {} });
  expect((await server.answer(1)).error).toMatchObject({ code: -32601 });
  await server.initialize();
  await expectAlive(server);
});

test("the handshake tells name, version and description", async () => {
  const server = startServer(project);
  const { result } = await server.request("initialize", initializeParams);
  expect(result).toMatchObject({
    protocolVersion: initializeParams.protocolVersion,
    capabilities: { tools: {} },
    serverInfo: JSON.parse(readFileSync(path.join(project, "package.json"), "utf8"), (key, value) =>
      ["", "name", "version", "description"].includes(key) ? value : undefined,
    ),
  });
});
