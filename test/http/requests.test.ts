import { beforeAll, describe, expect, test } from "vitest";
import { bearer, clientHeaders, messagesIn, startHttp } from "../support/http-server.ts";
import { projectWithTools } from "../support/stdio-server.ts";

let open: string;
let guarded: string;
beforeAll(async () => {
  open = await projectWithTools("hostile-tools.ts", { transport: "http", auth: "none" });
  guarded = await projectWithTools("hostile-tools.ts", { transport: "both", auth: "token" });
});

const modes = [
  ["with sessions", {}],
  ["stateless", { MCP_STATELESS: "true" }],
] as const;

describe.each(modes)("bodies, %s", (_, env) => {
  test("what is wrong with a request is said in JSON-RPC, and the server lives on", async () => {
    const server = await startHttp(open, env);
    const json = { ...clientHeaders };
    const rows: [what: string, status: number, code: number, headers: object, body: string][] = [
      ["broken JSON", 400, -32700, json, "{"],
      ["half an object", 400, -32700, json, '{"jsonrpc":"2.0","id":1,'],
      ["too large", 413, -32000, json, JSON.stringify({ text: "x".repeat(1_000_001) })],
      ["no JSON type", 415, -32000, { ...json, "content-type": "text/plain" }, "{}"],
      ["a charset nobody has", 415, -32000, { ...json, "content-type": "application/json; charset=x" }, "{}"],
      ["a number", 400, -32600, json, "42"],
      ["null", 400, -32600, json, "null"],
      ["no message", 400, -32600, json, "{}"],
      ["a batch of null", 400, -32600, json, "[null]"],
      ["a batch with a number in it", 400, -32600, json, '[{"jsonrpc":"2.0","method":"x"},1]'],
      ["no type at all", 415, -32000, { accept: json.accept }, "{}"],
    ];
    for (const [what, status, code, headers, body] of rows) {
      const answer = await server.request({ headers: { ...headers }, body });
      expect([what, answer.status]).toEqual([what, status]);
      expect(messagesIn(answer)[0], what).toMatchObject({ jsonrpc: "2.0", id: null, error: { code } });
      expect(answer.headers["content-type"], what).toMatch(/^application\/json/);
      expect(answer.text, what).not.toMatch(/<html|node_modules|\bat .*\.js/i);
      expect(answer.headers["x-powered-by"]).toBeUndefined();
    }
    expect((await server.request({ path: "/livez", method: "GET" })).status).toBe(200);
    expect(server.stdout.all.filter((line) => /^\s+at /.test(line))).toEqual([]);
    expect(server.stderr.all.join("")).toBe("");
  });

  test("malformed calls get -32602 under their own id", async () => {
    const server = await startHttp(open, env);
    const session = env === modes[0][1] ? await server.session() : {};
    for (const params of [
      null,
      [],
      undefined,
      {},
      { name: 5 },
      { name: "echo", arguments: ["x"] },
      { name: "no_such" },
    ]) {
      const { message } = await server.post({ jsonrpc: "2.0", id: 7, method: "tools/call", params }, session);
      expect(message).toMatchObject({ id: 7, error: { code: -32602 } });
      expect(message.error?.message).not.toMatch(/MCP error|expected|invalid_type/);
    }
  });
});

describe("paths and methods", () => {
  test("unknown paths are 404 in JSON, the well-known ones without a token", async () => {
    const server = await startHttp(guarded);
    for (const path of [
      "/",
      "/nothing",
      "/mcp/below",
      "/mcpx",
      "/.well-known/oauth-protected-resource",
      "/.well-known/x?token=y",
    ]) {
      const answer = await server.request({ method: "GET", path });
      expect([path, answer.status]).toEqual([path, 404]);
      expect(JSON.parse(answer.text)).toEqual({ error: "Not found" });
    }
    expect((await server.request({ method: "GET", path: "/%" })).status).toBe(404);
  });

  test("methods that are not offered are 405 with Allow, never 404 and never HTML", async () => {
    const all = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "OPTIONS", "QUERY", "PROPFIND"];
    const offers: [env: Record<string, string>, path: string, allow: string, besides: string[]][] = [
      [{}, "/mcp", "GET, POST, DELETE", ["OPTIONS"]],
      [{ MCP_STATELESS: "true" }, "/mcp", "POST", ["OPTIONS"]],
      [{}, "/livez", "GET, HEAD", []],
      [{}, "/health", "GET, HEAD", []],
    ];
    for (const [env, path, allow, besides] of offers) {
      const server = await startHttp(open, env);
      for (const method of all) {
        if (allow.split(", ").includes(method) || besides.includes(method)) continue;
        const answer = await server.request({ method, path, headers: clientHeaders });
        expect([method, path, answer.status, answer.headers.allow]).toEqual([method, path, 405, allow]);
        expect(answer.headers["content-type"]).toMatch(/^application\/json/);
        if (method !== "HEAD") expect(JSON.parse(answer.text)).toMatchObject({ error: { code: -32000 } });
      }
    }
  });

  test("an unknown path is 404 in JSON for every method", async () => {
    const server = await startHttp(guarded);
    for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE"]) {
      for (const path of ["/nothing", "/.well-known/oauth-protected-resource/mcp"]) {
        const answer = await server.request({ method, path });
        expect([method, path, answer.status]).toEqual([method, path, 404]);
        expect(answer.headers["content-type"]).toMatch(/^application\/json/);
      }
    }
  });
});

describe("Host and Origin", () => {
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };

  test("foreign ones are refused, those of this machine are fine, on any port", async () => {
    const server = await startHttp(open, { MCP_STATELESS: "true" });
    const judge = async (headers: Record<string, string>) => (await server.post(list, headers)).status;
    for (const host of [
      "evil.example",
      "127.0.0.1.evil.example",
      "evil.example:3001",
      "localhost@evil.example",
      "[::2]",
      "127.0.0.2",
      "0.0.0.0",
      "[::ffff:127.0.0.1]",
      "::1",
      "localhost.",
      "localhost, evil.example",
      " ",
    ]) {
      expect([host, await judge({ host })]).toEqual([host, 403]);
    }
    for (const host of ["localhost", "localhost:9", "127.0.0.1", "[::1]", "[::1]:3001", "LOCALHOST"]) {
      expect([host, await judge({ host })]).toEqual([host, 200]);
    }
    for (const origin of [
      "https://evil.example",
      "null",
      "file://",
      "http://localhost.evil.example",
      "http://localhost/with/a/path",
      "http://localhost, https://evil.example",
      "not a url",
      "",
    ]) {
      expect([origin, await judge({ origin })]).toEqual([origin, 403]);
    }
    for (const origin of ["http://localhost:5173", "https://127.0.0.1", "http://[::1]:8080"]) {
      expect([origin, await judge({ origin })]).toEqual([origin, 200]);
    }
  });

  test("configured ones are allowed", async () => {
    const server = await startHttp(open, {
      MCP_STATELESS: "true",
      MCP_ALLOWED_HOSTS: "mcp.example.com:8080, Other.example, [2001:DB8::1]",
      MCP_ALLOWED_ORIGINS: "https://app.example.com/, https://dev.example.com:8443",
    });
    expect((await server.post(list, { host: "mcp.example.com:443" })).status).toBe(200);
    expect((await server.post(list, { host: "other.example" })).status).toBe(200);
    expect((await server.post(list, { host: "[2001:db8::1]:3001" })).status).toBe(200);
    expect((await server.post(list, { host: "example.com" })).status).toBe(403);
    expect((await server.post(list, { host: "sub.other.example" })).status).toBe(403);
    expect((await server.post(list, { origin: "https://app.example.com" })).status).toBe(200);
    expect((await server.post(list, { origin: "https://app.example.com.evil.example" })).status).toBe(403);
    expect((await server.post(list, { origin: "http://app.example.com" })).status).toBe(403);
    expect((await server.post(list, { origin: "https://app.example.com:8443" })).status).toBe(403);
    expect((await server.post(list, { origin: "https://dev.example.com:8443" })).status).toBe(200);
    expect((await server.post(list, { origin: "https://dev.example.com" })).status).toBe(403);
  });

  test("the name that the server listens on is its own", async () => {
    const server = await startHttp(open, { MCP_STATELESS: "true", HOST: "127.0.0.2" });
    expect((await server.post(list)).status).toBe(200);
    expect((await server.post(list, { host: "127.0.0.3" })).status).toBe(403);
  });

  test("health ignores Host: a load balancer asks by address", async () => {
    const server = await startHttp(open);
    for (const path of ["/livez", "/health"]) {
      expect((await server.request({ method: "GET", path, headers: { host: "10.1.2.3" } })).status).toBe(200);
    }
  });
});

describe("browsers", () => {
  test("a preflight is answered before auth, and a 401 can be read", async () => {
    const server = await startHttp(guarded);
    const origin = "http://localhost:5173";
    const preflight = await server.request({
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type,mcp-session-id",
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers["access-control-allow-origin"]).toBe(origin);
    expect(preflight.headers["access-control-allow-headers"]).toMatch(/authorization/);
    expect(preflight.headers["access-control-allow-methods"]).toMatch(/DELETE/);

    const refused = await server.post({}, { origin });
    expect(refused.status).toBe(401);
    expect(refused.headers["access-control-allow-origin"]).toBe(origin);
    expect(refused.headers["access-control-expose-headers"]).toMatch(/Mcp-Session-Id.*WWW-Authenticate/);

    const foreign = await server.request({
      method: "OPTIONS",
      headers: { origin: "https://evil.example", "access-control-request-method": "POST" },
    });
    expect(foreign.status).toBe(403);
    expect(foreign.headers["access-control-allow-origin"]).toBeUndefined();
    const known = await server.post({}, { origin: "https://evil.example", ...bearer("alice") });
    expect(known.status).toBe(403);
    expect(known.headers["access-control-allow-origin"]).toBeUndefined();
  });

  test("an answer to one origin is not kept for another", async () => {
    const server = await startHttp(open, { MCP_STATELESS: "true" });
    const { headers } = await server.request({ method: "GET", headers: { origin: "http://localhost:5173" } });
    expect(headers.vary).toMatch(/Origin/);
    expect(headers["access-control-allow-credentials"]).toBeUndefined();
  });

  test("a preflight names the methods that there are", async () => {
    const server = await startHttp(open, { MCP_STATELESS: "true" });
    const preflight = await server.request({ method: "OPTIONS", headers: { origin: "http://localhost" } });
    expect(preflight.headers["access-control-allow-methods"]).toBe("POST");
  });
});

describe("slow and rude clients", () => {
  test("a half-sent request is cut off", async () => {
    const server = await startHttp(open, { MCP_REQUEST_TIMEOUT_MS: "300" });
    const half = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{`;
    expect(await server.raw(half)).toMatch(/^HTTP\/1\.1 408 /);
    expect(await server.raw("POST /mcp HTTP/1.1\r\nHost: loc")).toMatch(/^HTTP\/1\.1 408 /);
    expect(await server.raw("nonsense\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 /);
    expect((await server.request({ method: "GET", path: "/livez" })).status).toBe(200);
  });
});
