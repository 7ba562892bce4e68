import { beforeAll, describe, expect, test } from "vitest";
import { builtProject } from "../support/generated.ts";
import {
  type Answer,
  bearer,
  clientHeaders,
  messagesIn,
  type RequestOptions,
  tokens,
  toolCall,
} from "../support/http-server.ts";
import { noNginx } from "./debian-nginx.ts";
import { freePort, Nginx, startReplicated } from "./nginx.ts";

const body = JSON.stringify(toolCall(1, "query_order", { orderId: "ORD-1001" }));
const post = (headers: Record<string, string>, path = "/mcp"): RequestOptions => ({
  path,
  headers: { ...clientHeaders, ...headers },
  body,
});

/** Everything that a shell, a regular expression or nginx's configuration could take for its own. */
const odd = `"'\\$\{x};~.*+?|()[]^#%&<>!\\E\\t:=`;

let project: string;
beforeAll(async () => {
  project = await builtProject({
    transport: "http",
    auth: "token",
    samples: true,
    docker: true,
    deploy: "nginx",
  });
});

describe.skipIf(noNginx)("tokens at nginx", () => {
  const strangers: [string, RequestOptions][] = [
    ["none", post({})],
    ["an unknown one", post({ authorization: "Bearer unknown-0123456789" })],
    ["a part of one", post({ authorization: `Bearer ${tokens.alice.slice(0, -1)}` })],
    ["one with more behind it", post({ authorization: `Bearer ${tokens.alice}x` })],
    ["one in capitals", post({ authorization: `Bearer ${tokens.alice.toUpperCase()}` })],
    ["another scheme", post({ authorization: `Basic ${tokens.alice}` })],
    ["one in the query", post({}, `/mcp?token=${tokens.alice}`)],
    ["none, in another spelling of the path", post({}, "/MCP/")],
    ["none, for a stream", { method: "GET", headers: { accept: "text/event-stream" } }],
  ];
  /** What has to be the same, whoever refuses. */
  const essence = ({ status, headers, text }: Answer) => [
    status,
    headers["www-authenticate"],
    headers["content-type"]?.split(";")[0],
    JSON.parse(text),
  ];

  test("a stranger gets the server's own 401, and no replica has seen the request", async () => {
    const { nginx, replicas } = await startReplicated(project, 1);
    const [replica] = replicas;
    const answers: [string, Answer][] = [];
    for (const [title, request] of strangers) answers.push([title, await nginx.request(request)]);
    // Whatever a replica had logged, it would stand before this.
    await nginx.request(post(bearer("bob")));
    await replica?.logged({ message: "request", caller: "bob" });
    expect(replica?.stdout.all.filter((line) => line.includes('"message":"request"'))).toHaveLength(1);

    for (const [index, [title, answer]] of answers.entries()) {
      expect(answer.headers.server, title).toBe("nginx");
      const direct = await replica?.request(strangers[index]?.[1]);
      expect(essence(answer), title).toEqual(essence(direct as Answer));
      expect(answer.status, title).toBe(401);
    }
  });

  test("a known token passes, in any spelling of the scheme", async () => {
    const { nginx } = await startReplicated(project, 1);
    for (const scheme of ["Bearer", "bearer", "BEARER", "Bearer  "]) {
      const answer = await nginx.request(post({ authorization: `${scheme} ${tokens.bob}` }));
      expect(messagesIn(answer)[0], scheme).toMatchObject({ id: 1, result: {} });
    }
  });

  test("no character of a token means anything", async () => {
    const env = { MCP_AUTH_TOKENS: ` odd:${odd} ,, plain:${tokens.alice}` };
    const { nginx } = await startReplicated(project, 1, env);
    for (const token of [odd, tokens.alice]) {
      expect((await nginx.request(post({ authorization: `Bearer ${token}` }))).status).toBe(200);
    }
    for (const token of [odd.replace(".", "x"), odd.replace("\\", ""), `${odd}${odd}`, "x".repeat(40)]) {
      const answer = await nginx.request(post({ authorization: `Bearer ${token}` }));
      expect([answer.status, answer.headers.server]).toEqual([401, "nginx"]);
      // Refused here, and not by the replica: that one would have given an id.
      expect(answer.headers["x-request-id"]).toBeUndefined();
    }
  });

  test("browsers: a preflight passes, and a refusal can be read", async () => {
    const { nginx } = await startReplicated(project, 1);
    const origin = "http://localhost:5173";
    const preflight = await nginx.request({
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "POST" },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers["access-control-allow-origin"]).toBe(origin);
    expect((await nginx.request({ method: "OPTIONS" })).status).toBe(204);

    const refused = await nginx.request(post({ origin, authorization: "Bearer unknown-0123456789" }));
    expect(refused.status).toBe(401);
    expect(refused.headers["access-control-allow-origin"]).toBe(origin);
    expect(refused.headers["access-control-expose-headers"]).toContain("WWW-Authenticate");
    expect((await nginx.request(post({ origin: "https://foreign.example" }))).status).toBe(403);
  });

  test("health and unknown paths need none", async () => {
    const { nginx } = await startReplicated(project, 1);
    const get = async (path: string) => {
      const { status, text } = await nginx.request({ method: "GET", path });
      return [status, JSON.parse(text)];
    };
    expect(await get("/livez")).toEqual([200, { status: "ok" }]);
    expect(await get("/health")).toEqual([200, { status: "ok" }]);
    expect(await get("/.well-known/oauth-protected-resource")).toEqual([404, { error: "Not found" }]);
  });

  test("the log names the caller, and shows no token and no query", async () => {
    const { nginx } = await startReplicated(project, 1);
    const known = await nginx.request(post(bearer("alice"), "/mcp?secret=hush"));
    await nginx.request(post({}, `/mcp?token=${tokens.alice}`));
    await nginx.request({ method: "GET", path: `/${"x".repeat(20_000)}?token=${tokens.alice}` });
    await nginx.stop();
    const output = await nginx.output();
    // Each of nginx's processes writes when it likes to.
    const lines = output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.find(({ status }) => status === "200")).toMatchObject({
      request: "POST /mcp",
      caller: "alice",
      // The same as in the replica's log.
      httpRequestId: known.headers["x-request-id"],
    });
    expect(lines.find(({ status }) => status === "401")).toMatchObject({ request: "POST /mcp", caller: "" });
    expect(lines.map(({ status }) => status).sort()).toEqual(["200", "401", "414"]);
    expect(output).not.toMatch(/hush|token|0123456789abcdef/);
  });

  test("nor does it where nginx cannot reach a replica", async () => {
    const nginx = await (await Nginx.start(project, [await freePort()])).listening();
    await nginx.request(post(bearer("alice"), "/mcp?secret=hush"));
    await nginx.stop();
    const output = await nginx.output();
    expect(output).toContain('"status":"502"');
    expect(output).not.toMatch(/hush|0123456789abcdef/);
  });

  test.each([
    ["nothing", {}],
    ["an empty list", { MCP_AUTH_TOKENS: " , " }],
    ["a short token", { MCP_AUTH_TOKENS: `good:${tokens.alice},short:0123456789` }],
    ["a token without a name", { MCP_AUTH_TOKENS: tokens.alice }],
    ["a name that says something else", { MCP_AUTH_TOKENS: `a";include x;":${tokens.alice}` }],
  ])("%s: nginx does not start", async (_, env: Record<string, string>) => {
    const nginx = await Nginx.start(project, [await freePort()], env);
    expect(await nginx.ended).toBe(1);
    expect(await nginx.output()).toMatch(/^Cannot start: MCP_AUTH_TOKENS: expected [^\n]*\n$/);
  });
});
