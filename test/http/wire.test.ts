import { beforeAll, describe, expect, test } from "vitest";
import { bytesOf, startHttp, toolCall } from "../support/http-server.ts";
import { projectWithTools } from "../support/stdio-server.ts";

let project: string;
beforeAll(async () => {
  project = await projectWithTools("hostile-tools.ts", { transport: "http", auth: "none" });
});

const call = (id: number, name = "echo", args: object = { text: "x" }) =>
  JSON.stringify(toolCall(id, name, args));
const modes = [
  ["a stream", { MCP_STATELESS: "true" }],
  ["JSON", { MCP_STATELESS: "true", MCP_JSON_RESPONSE: "true" }],
] as const;

/** The statuses of all answers on a connection, in their order. */
const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, code]) => Number(code));
const alive = "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
const open = { Connection: "keep-alive" };

describe.each(modes)("connections, answered as %s", (_, env) => {
  test("requests that come at once are answered in their order", async () => {
    const server = await startHttp(project, env);
    const slow = bytesOf(open, call(1, "waits", { ms: 200 }));
    const text = await server.raw(slow + bytesOf(open, call(2)) + bytesOf(open, "{") + alive);
    expect(statuses(text)).toEqual([200, 200, 400, 200]);
    expect(text.indexOf('"id":1')).toBeGreaterThan(0);
    expect(text.indexOf('"id":2')).toBeGreaterThan(text.indexOf('"id":1'));
  });

  test("a client that asks to close is closed right after its answer", async () => {
    const server = await startHttp(project, env);
    const at = performance.now();
    for (const start of ["POST /mcp HTTP/1.1", "POST /mcp HTTP/1.0"]) {
      for (const headers of start.endsWith("0") ? [{ Connection: "" }, {}] : [{}]) {
        expect(await server.raw(bytesOf(headers, call(1), start))).toMatch(/^HTTP\/1\.1 200 [\s\S]*"id":1/);
        const slow = await server.raw(bytesOf(headers, call(2, "waits", { ms: 100 }), start));
        expect(slow).toMatch(/^HTTP\/1\.1 200 [\s\S]*"id":2/);
        // HTTP/1.0 knows no chunks.
        expect(/^transfer-encoding/im.test(slow) && start.endsWith("0")).toBe(false);
      }
    }
    // Node itself would wait for 5 s for a next request.
    expect(performance.now() - at).toBeLessThan(3000);
  });
});

test("a refused request does not spoil the next one on its connection", async () => {
  const server = await startHttp(project, { MCP_STATELESS: "true", MCP_BODY_LIMIT: "2000" });
  for (const [status, refused] of [
    [413, bytesOf(open, "x".repeat(100_000))],
    [403, bytesOf({ ...open, Host: "evil.example" }, "x".repeat(100_000))],
    [415, bytesOf({ ...open, "Content-Type": "text/plain" }, "x".repeat(100_000))],
    [405, bytesOf(open, "x".repeat(100_000), "PUT /mcp HTTP/1.1")],
    [404, bytesOf(open, "x".repeat(100_000), "POST /nothing HTTP/1.1")],
  ] as const) {
    expect(statuses(await server.raw(refused + bytesOf({}, call(1))))).toEqual([status, 200]);
  }
});

test("a client that closes and is refused while it sends can read why", async () => {
  const server = await startHttp(project, { MCP_STATELESS: "true" });
  const long = "x".repeat(20_000_000);
  for (const [status, bytes] of [
    [413, bytesOf({}, long)],
    [403, bytesOf({ Host: "evil.example" }, long)],
    [415, bytesOf({ "Content-Type": "text/plain" }, long)],
    [405, bytesOf({}, long, "PUT /mcp HTTP/1.1")],
  ] as const) {
    expect(statuses(await server.raw(bytes))).toEqual([status]);
  }
  // One that sends for ever is cut off all the same.
  const at = performance.now();
  const endless = bytesOf({ Host: "evil.example", "Content-Length": "20000000" }, "x");
  expect(statuses(await server.raw(endless))).toEqual([403]);
  expect(performance.now() - at).toBeLessThan(3000);
});

test("an absolute target is a target", async () => {
  const server = await startHttp(project, { MCP_STATELESS: "true" });
  const text = await server.raw(bytesOf({}, call(1), "POST http://localhost/mcp HTTP/1.1"));
  expect(text).toMatch(/^HTTP\/1\.1 200 /);
});

test("more than one Host is refused, whatever they say", async () => {
  const server = await startHttp(project, { MCP_STATELESS: "true" });
  for (const hosts of [
    ["localhost", "evil.example"],
    ["evil.example", "localhost"],
    ["localhost", "localhost"],
  ]) {
    const text = await server.raw(bytesOf({ Host: hosts.join("\r\nHost: ") }, call(1)));
    expect(text).toMatch(/^HTTP\/1\.1 400 [\s\S]*"jsonrpc":"2.0"/);
  }
});

describe("Expect", () => {
  const expects = { Expect: "100-continue" };

  test("a body is asked for, and its limit holds", async () => {
    const server = await startHttp(project, { MCP_STATELESS: "true", MCP_BODY_LIMIT: "2000" });
    expect(statuses(await server.raw(bytesOf(expects, call(1))))).toEqual([100, 200]);
    const long = call(1, "echo", { text: "x".repeat(5000) });
    expect(statuses(await server.raw(bytesOf(expects, long)))).toEqual([100, 413]);
    expect(statuses(await server.raw(bytesOf({ Expect: "something-else" }, call(1))))).toEqual([417]);
  });

  test("a body that never comes is cut off, too large or not", async () => {
    const server = await startHttp(project, { MCP_STATELESS: "true", MCP_REQUEST_TIMEOUT_MS: "300" });
    for (const length of ["10", "20000000"]) {
      const text = await server.raw(bytesOf({ ...expects, "Content-Length": length }, ""));
      expect(statuses(text)).toEqual([100, 408]);
    }
  });
});

test("what proxies and servers could read in two ways is not read at all", async () => {
  const server = await startHttp(project, { MCP_STATELESS: "true" });
  const chunked = { "Transfer-Encoding": "chunked" };
  for (const bytes of [
    bytesOf(chunked, "0\r\n\r\n"),
    bytesOf({ "Content-Length": "", "Transfer-Encoding": "xchunked" }, "0\r\n\r\n"),
    bytesOf({ "Content-Length": "", ...chunked }, "5;\n0\r\n\r\n"),
    bytesOf({ "X-Folded": "a\r\n b" }, call(1)),
    bytesOf({ "X-Nul": "a\0b" }, call(1)),
    bytesOf({ "X-Space ": "a" }, call(1)),
    bytesOf({}, call(1)).replaceAll("\r\n", "\n"),
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  ]) {
    const text = await server.raw(bytes);
    expect([bytes, statuses(text)]).toEqual([bytes, [400]]);
    expect(text).not.toMatch(/html|\bat .*\.js/i);
  }
  // A tunnel is nothing that a server like this one has.
  expect(await server.raw(bytesOf({}, "", "CONNECT localhost:80 HTTP/1.1"))).toBe("");
  expect(statuses(await server.raw(alive))).toEqual([200]);
  expect(server.stderr.all.join("")).toBe("");
});

test("nobody is upgraded to another protocol", async () => {
  const server = await startHttp(project, { MCP_STATELESS: "true" });
  for (const Upgrade of ["websocket", "h2c"]) {
    const text = await server.raw(bytesOf({ Connection: "upgrade, close", Upgrade }, call(1)));
    expect(statuses(text)).toEqual([200]);
  }
});
