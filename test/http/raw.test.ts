import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { bearer, bytesOf, clientHeaders, type HttpServer, startHttp } from "../support/http-server.ts";
import { projectWithTools } from "../support/stdio-server.ts";

let open: string;
let guarded: string;
beforeAll(async () => {
  open = await projectWithTools("hostile-tools.ts", { transport: "http", auth: "none" });
  guarded = await projectWithTools("hostile-tools.ts", { transport: "both", auth: "token" });
});

const list = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });

const modes = [
  ["with sessions", {}],
  ["stateless", { MCP_STATELESS: "true" }],
] as const;

async function isAlive(server: HttpServer): Promise<boolean> {
  return (await server.request({ method: "GET", path: "/livez" })).status === 200;
}

describe.each(modes)("raw bytes, %s", (_, env) => {
  // Each row: the bytes, and how the answer to them begins.
  const rows: [what: string, bytes: string, answer: RegExp][] = [
    ["more than a name in Host", bytesOf({ Host: "evil.example@localhost" }, list), /^HTTP\/1\.1 403 /],
    ["a path in Host", bytesOf({ Host: "localhost/evil.example" }, list), /^HTTP\/1\.1 403 /],
    ["a port that is none", bytesOf({ Host: "localhost:99999" }, list), /^HTTP\/1\.1 403 /],
    ["no Host at all", bytesOf({ Host: "" }, list), /^HTTP\/1\.1 400 /],
    ["no Host in HTTP/1.0", bytesOf({ Host: "" }, list, "POST /mcp HTTP/1.0"), /^HTTP\/1\.1 403 /],
    [
      "a name in Origin that only begins well",
      bytesOf({ Origin: "http://localhost@evil.example" }, list),
      / 403 /,
    ],
    ["more than a name in Origin", bytesOf({ Origin: "http://evil.example@localhost" }, list), / 403 /],
    [
      "a foreign absolute target",
      bytesOf({ Host: "evil.example" }, list, "POST http://localhost/mcp HTTP/1.1"),
      / 403 /,
    ],
    ["two lengths", bytesOf({ "Content-Length": "3\r\nContent-Length: 4" }, list), /^HTTP\/1\.1 400 /],
    ["headers without end", bytesOf({ "X-Long": "x".repeat(20_000) }, list), /^HTTP\/1\.1 431 /],
    ["a body of no bytes", bytesOf({}, ""), /^HTTP\/1\.1 400 /],
    ["no body, no length", bytesOf({ "Content-Length": "" }, ""), /^HTTP\/1\.1 400 /],
    ["no body, no length, no type", bytesOf({ "Content-Length": "", "Content-Type": "" }, ""), / 400 /],
    ["no chunk", bytesOf({ "Content-Length": "", "Transfer-Encoding": "chunked" }, "0\r\n\r\n"), / 400 /],
    ["only spaces", bytesOf({}, "  "), /^HTTP\/1\.1 400 /],
    ["a batch of nothing", bytesOf({}, "[]"), /^HTTP\/1\.1 400 /],
    ["a type that only ends well", bytesOf({ "Content-Type": "application/x+json" }, list), / 415 /],
    ["two types", bytesOf({ "Content-Type": "text/plain, application/json" }, list), / 415 /],
    ["Latin 1", bytesOf({ "Content-Type": "application/json; charset=iso-8859-1" }, list), / 415 /],
    ["gzip that is none", bytesOf({ "Content-Encoding": "gzip" }, list), /^HTTP\/1\.1 400 /],
    ["gzip in gzip", bytesOf({ "Content-Encoding": "gzip, gzip" }, list), /^HTTP\/1\.1 415 /],
    ["__proto__", bytesOf({}, '{"__proto__":{"polluted":1},"jsonrpc":"2.0"}'), /^HTTP\/1\.1 400 /],
    ["brackets without end", bytesOf({}, "[".repeat(500_000)), /^HTTP\/1\.1 400 /],
    ["a deep object", bytesOf({}, `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`), /^HTTP\/1\.1 400 /],
    ["a batch of nothing", bytesOf({}, "[]"), /^HTTP\/1\.1 400 .*-32600/s],
    ["a batch beyond bounds", bytesOf({}, `[${Array(5000).fill(list).join()}]`), /^HTTP\/1\.1 400 /],
    ["an encoding nobody knows", bytesOf({ "Content-Encoding": "x-nothing" }, list), /^HTTP\/1\.1 415 /],
    ["a method nobody knows", bytesOf({}, list, "PROPFIND /mcp HTTP/1.1"), /^HTTP\/1\.1 405 /],
    ["a protocol nobody knows", bytesOf({ "MCP-Protocol-Version": "1999-01-01" }, list), /^HTTP\/1\.1 400 /],
  ];

  test("whatever comes is refused without a word too many, and the server lives on", async () => {
    const server = await startHttp(open, env);
    for (const [what, bytes, begins] of rows) {
      const answer = await server.raw(bytes);
      expect(answer, what).toMatch(begins);
      expect(answer, what).not.toMatch(
        /<(html|pre|!doctype)|node_modules|\/dist\/|\bat .*\.js|ZodError|x-powered-by/i,
      );
    }
    expect(await isAlive(server)).toBe(true);
    expect(server.stderr.all.join("")).toBe("");
    expect(server.stdout.all.join("\n")).not.toMatch(/request broke|uncaught/);
  });

  test("the limit holds for what is unpacked, and for what says no length", async () => {
    const server = await startHttp(open, { ...env, MCP_BODY_LIMIT: "2000" });
    const long = JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "ping",
      params: { text: "x".repeat(50_000) },
    });
    for (const [encoding, pack] of [
      ["gzip", gzipSync],
      ["deflate", deflateSync],
      ["br", brotliCompressSync],
    ] as const) {
      const headers = { ...clientHeaders, "content-encoding": encoding };
      const unpacked = await server.request({ headers, body: pack(long) });
      expect([encoding, unpacked.status]).toEqual([encoding, 413]);
    }
    const chunked = await server.request({
      headers: { ...clientHeaders, "transfer-encoding": "chunked" },
      body: long,
    });
    expect(chunked.status).toBe(413);
    // A type that only the SDK would take for JSON must not get around the limit.
    for (const type of ["application/json;", "application/json; charset="]) {
      const odd = await server.request({ headers: { ...clientHeaders, "content-type": type }, body: long });
      expect([type, odd.status]).toEqual([type, expect.toSatisfy((status) => [413, 415].includes(status))]);
    }
    expect(await isAlive(server)).toBe(true);
  });
});

describe("what a client must accept", () => {
  test("both types, as the protocol has it: otherwise 406", async () => {
    const server = await startHttp(open, { MCP_STATELESS: "true" });
    for (const accept of ["application/json", "text/event-stream", "*/*"]) {
      const answer = await server.request({ headers: { ...clientHeaders, accept }, body: list });
      expect([accept, answer.status]).toEqual([accept, 406]);
      expect(JSON.parse(answer.text)).toMatchObject({ jsonrpc: "2.0", error: { code: -32000 } });
    }
  });
});

describe("proxies", () => {
  const forwarded = { "x-forwarded-for": "203.0.113.7, 198.51.100.2" };
  const rows = [
    ["0", "127.0.0.1"],
    ["1", "198.51.100.2"],
    ["2", "203.0.113.7"],
  ] as const;
  test.each(rows)("behind %s of them, the log has the address %s", async (hops, ip) => {
    const server = await startHttp(open, { MCP_TRUST_PROXY: hops });
    await server.request({ method: "GET", path: "/livez", headers: forwarded });
    expect(await server.logged({ message: "request" })).toMatchObject({ ip });
  });

  test("a forwarded host is not believed", async () => {
    const server = await startHttp(open, { MCP_STATELESS: "true", MCP_TRUST_PROXY: "1" });
    const headers = { host: "evil.example", "x-forwarded-host": "localhost" };
    expect((await server.post(JSON.parse(list), headers)).status).toBe(403);
  });
});

test("a stranger's body is not read", async () => {
  const server = await startHttp(guarded, { MCP_STATELESS: "true" });
  // The body never comes; the answer does.
  const half = bytesOf({ Authorization: "Bearer wrong-0123456789abcdef", "Content-Length": "900000" }, "{");
  expect(await server.raw(half)).toMatch(/^HTTP\/1\.1 401 /);
  const known = await server.post(JSON.parse(list), bearer("alice"));
  expect(known.status).toBe(200);
});
