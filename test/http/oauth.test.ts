import { createPublicKey, type JsonWebKey } from "node:crypto";
import { once } from "node:events";
import http from "node:http";
import { type OAuthClientProvider, UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";
import { CompactEncrypt, decodeJwt, exportJWK, generateKeyPair, SignJWT } from "jose";
import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import {
  type AuthorizationServer,
  publicUrl,
  startAuthorizationServer,
} from "../support/authorization-server.ts";
import {
  type Answer,
  type HttpServer,
  launch,
  readAnswer,
  startHttp,
  toolCall,
} from "../support/http-server.ts";
import { projectWithTools } from "../support/stdio-server.ts";

let project: string;
beforeAll(async () => {
  project = await projectWithTools("scoped-tools.ts", { transport: "both", auth: "oauth" });
});

let authorization: AuthorizationServer;
beforeEach(async () => {
  authorization = await startAuthorizationServer();
});

const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const metadataUrl = "https://mcp.example.com/.well-known/oauth-protected-resource/team/mcp";

const start = (env: Record<string, string> = {}) =>
  startHttp(project, { ...authorization.settings, MCP_STATELESS: "true", ...env });

/** Stands for a time that is known when the token is made. */
const justNow = "just now";

/** What never may be seen: a server error, a stack, or the token. */
function expectHarmless(server: HttpServer, answer: Answer, token = ""): void {
  expect(answer.text).not.toMatch(/\n\s+at |<html/i);
  const seen = [answer.text, ...server.stdout.all, ...server.stderr.all].join("\n");
  // Its signature, which makes it a secret.
  const secret = token.split(".").at(-1) ?? "";
  if (secret.length > 8) expect(seen).not.toContain(secret);
}

describe("which tokens are accepted", () => {
  test("a good one, whatever the case of the scheme and the type of the token", async () => {
    const server = await start();
    for (const scheme of ["Bearer", "bearer", "BEARER"]) {
      for (const header of [{ typ: "at+jwt" }, { typ: "JWT" }, {}]) {
        const answer = await server.post(list, {
          authorization: `${scheme} ${await authorization.token({}, header)}`,
        });
        expect(answer.status).toBe(200);
      }
    }
  });

  test.each(["RS256", "PS384", "ES256", "ES512", "EdDSA"])("one signed with %s", async (alg) => {
    await authorization.addKey("second", alg);
    const server = await start();
    expect((await server.post(list, await authorization.bearer())).status).toBe(200);
  });

  test.each([
    ["an array of audiences with ours", { aud: ["https://other.example", publicUrl] }],
    ["a scope among others", { scope: "openid mcp profile" }],
    ['scopes under "scp", as text', { scope: undefined, scp: "other mcp" }],
    ['scopes under "scp", as a list', { scope: undefined, scp: ["other", "mcp"] }],
    ["an expiry that has just passed: clocks differ", { exp: justNow }],
  ])("one with %s", async (_, claims: Record<string, unknown>) => {
    const server = await start();
    if (claims.exp === justNow) claims.exp = Math.floor(Date.now() / 1000) - 1;
    expect((await server.post(list, await authorization.bearer(claims))).status).toBe(200);
  });

  test("one for the configured audience, and no longer one for the URL", async () => {
    const server = await start({ MCP_OAUTH_AUDIENCE: "api://notes" });
    expect((await server.post(list, await authorization.bearer({ aud: "api://notes" }))).status).toBe(200);
    expect((await server.post(list, await authorization.bearer())).status).toBe(401);
  });

  test("its subject is who the tool, the log and the session know", async () => {
    const server = await start({ MCP_STATELESS: "false" });
    const session = await server.session(await authorization.bearer({ sub: "alice" }));
    const { message } = await server.post(toolCall(1, "whoami"), session);
    expect(message.result).toMatchObject({ structuredContent: { caller: "alice" } });
    await server.logged({ message: "request", caller: "alice" });
    const other = { ...session, ...(await authorization.bearer({ sub: "bob" })) };
    expect((await server.post(toolCall(2, "whoami"), other)).status).toBe(404);
  });
});

describe("which tokens are refused with 401", () => {
  const now = Math.floor(Date.now() / 1000);
  const badClaims: [title: string, claims: Record<string, unknown>][] = [
    ["expired", { exp: now - 60 }],
    ["not yet valid", { nbf: now + 600 }],
    ["without expiry", { exp: undefined }],
    ["with an expiry that is no time", { exp: "tomorrow" }],
    ["from another issuer", { iss: "https://evil.example" }],
    ["from the issuer with a slash more", { iss: "slash" }],
    ["without issuer", { iss: undefined }],
    ["for another audience", { aud: "https://other.example/mcp" }],
    ["for a part of our URL", { aud: "https://mcp.example.com" }],
    ["for other audiences", { aud: ["https://other.example", "https://mcp.example.com/team"] }],
    ["without audience", { aud: undefined }],
    ["without subject", { sub: undefined }],
  ];

  async function expectRefused(server: HttpServer, token: string): Promise<void> {
    const answer = await server.post(list, { authorization: `Bearer ${token}` });
    expect(answer.status).toBe(401);
    expect(answer.headers["www-authenticate"]).toBe(
      `Bearer error="invalid_token", scope="mcp", resource_metadata="${metadataUrl}"`,
    );
    expect(answer.message).toEqual({
      jsonrpc: "2.0",
      id: null,
      error: { code: -32000, message: "The access token is not valid" },
    });
    expectHarmless(server, answer, token);
  }

  test.each(badClaims)("%s", async (_, changed) => {
    const claims = changed.iss === "slash" ? { iss: `${authorization.issuer}/` } : changed;
    const server = await start({ MCP_LOG_LEVEL: "debug" });
    await expectRefused(server, await authorization.token(claims));
    await server.logged({ message: "access token refused" });
  });

  test("unsigned, or signed with what is public", async () => {
    const server = await start({ MCP_LOG_LEVEL: "debug" });
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const claims = authorization.claims();
    for (const alg of ["none", "None", "NONE", ""]) {
      await expectRefused(server, `${part({ alg, kid: "first" })}.${part(claims)}.`);
    }
    const [jwk] = authorization.publishedKeys;
    const pem = createPublicKey({ key: jwk as JsonWebKey, format: "jwk" })
      .export({ type: "spki", format: "pem" })
      .toString();
    for (const secret of [pem, pem.trim(), JSON.stringify(jwk), jwk?.n ?? ""]) {
      const signed = new SignJWT(claims).setProtectedHeader({ alg: "HS256", kid: "first" });
      await expectRefused(server, await signed.sign(Buffer.from(secret)));
    }
  });

  test("signed with a key of the forger's, also one that the token brings along", async () => {
    const server = await start();
    const { publicKey, privateKey } = await generateKeyPair("RS256");
    const jwk = await exportJWK(publicKey);
    for (const header of [
      { kid: "first" },
      { kid: "forged", jwk },
      { kid: "first", jku: "http://127.0.0.1:1/jwks" },
    ]) {
      const signed = new SignJWT(authorization.claims()).setProtectedHeader({ alg: "RS256", ...header });
      await expectRefused(server, await signed.sign(privateKey));
    }
  });

  test("what is no such token at all", async () => {
    const server = await start({ MCP_LOG_LEVEL: "debug" });
    const good = await authorization.token();
    const [head, body, signature] = good.split(".") as [string, string, string];
    const encrypted = await new CompactEncrypt(Buffer.from("{}"))
      .setProtectedHeader({ alg: "dir", enc: "A128GCM" })
      .encrypt(new Uint8Array(16));
    const odd = [
      "x",
      "..",
      "...",
      "a.b.c",
      `${head}.${body}`,
      `${head}.${body}.${signature.slice(0, -4)}`,
      `${head}.${body.slice(0, -4)}.${signature}`,
      `${good}.x`,
      `${good}%00`,
      encrypted,
      "x".repeat(8000),
    ];
    for (const token of odd) await expectRefused(server, token);
    // RFC 7515, section 4.1.11: what must be understood and is not.
    const critical = await authorization.token({}, { crit: ["must"], must: true });
    await expectRefused(server, critical);
  });

  test("none, or one anywhere but in the header: the answer says where to get one", async () => {
    const server = await start();
    const token = await authorization.token();
    const without = [
      { path: "/mcp" },
      { path: `/mcp?access_token=${token}` },
      { path: "/mcp", headers: { authorization: "Bearer" } },
      { path: "/mcp", headers: { authorization: `Basic ${token}` } },
      { path: "/mcp", headers: { authorization: token } },
    ];
    for (const { path, headers } of without) {
      const answer = await server.request({ path, ...(headers && { headers }), body: JSON.stringify(list) });
      expect(answer.status).toBe(401);
      // RFC 6750, section 3.1: without a token there is no error to name.
      expect(answer.headers["www-authenticate"]).toBe(
        `Bearer scope="mcp", resource_metadata="${metadataUrl}"`,
      );
      expectHarmless(server, answer, token);
    }
  });
});

describe("scopes", () => {
  test.each([
    ["others", { scope: "other mcp2 MCP" }],
    ["none", { scope: undefined }],
    ["an odd claim", { scope: { mcp: true } }],
  ])("a token that grants %s is refused with 403, and the answer names what is needed", async (_, claims) => {
    const server = await start();
    const answer = await server.post(list, await authorization.bearer(claims));
    expect(answer.status).toBe(403);
    expect(answer.headers["www-authenticate"]).toBe(
      `Bearer error="insufficient_scope", scope="mcp", resource_metadata="${metadataUrl}"`,
    );
    expect(answer.message).toMatchObject({ error: { message: "The access token lacks the scope mcp" } });
  });

  test("of a tool are needed for that tool only", async () => {
    const server = await start();
    const some = await authorization.bearer({ scope: "mcp notes:read" });
    expect((await server.post(toolCall(1, "whoami"), some)).status).toBe(200);
    const { tools } = (await server.post(list, some)).message.result as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toContain("write_note");
    const refused = await server.post(toolCall(1, "write_note"), some);
    expect(refused.status).toBe(403);
    expect(refused.headers["www-authenticate"]).toBe(
      `Bearer error="insufficient_scope", scope="mcp notes:write notes:read", resource_metadata="${metadataUrl}"`,
    );
    const all = await authorization.bearer({ scope: "mcp notes:read notes:write" });
    const { message } = await server.post(toolCall(1, "write_note"), all);
    expect(message.result).toMatchObject({ structuredContent: { written: true } });
  });

  test("are checked in a session and in each message of a batch too", async () => {
    const server = await start({ MCP_STATELESS: "false" });
    const session = await server.session(await authorization.bearer());
    expect((await server.post(toolCall(1, "write_note"), session)).status).toBe(403);
    const batch = [toolCall(2, "whoami"), toolCall(3, "write_note")];
    expect((await server.post(batch, session)).status).toBe(403);
  });

  test("need not be asked for at all", async () => {
    const server = await start({ MCP_OAUTH_SCOPES: "" });
    const headers = await authorization.bearer({ scope: undefined });
    expect((await server.post(list, headers)).status).toBe(200);
    const { headers: answered } = await server.post(list);
    expect(answered["www-authenticate"]).toBe(`Bearer resource_metadata="${metadataUrl}"`);
  });
});

test("a stream ends when its token does; the session goes on with another", async () => {
  const server = await start({ MCP_STATELESS: "false" });
  const session = await server.session(await authorization.bearer());
  const soon = await authorization.bearer({ exp: Math.floor(Date.now() / 1000) + 2 });
  const headers = { ...session, ...soon, accept: "text/event-stream" };
  const stream = await server.request({ method: "GET", headers });
  expect(stream.status).toBe(200);
  expect(Date.now() / 1000).toBeGreaterThan(decodeJwt(soon.authorization.slice("Bearer ".length)).exp ?? 0);
  expect((await server.post(toolCall(1, "whoami"), session)).status).toBe(200);
  const long = { ...session, ...(await authorization.bearer({ exp: 4_102_444_800 })) };
  const open = server.open({ method: "GET", headers: { ...long, accept: "text/event-stream" } });
  const [response] = (await once(open, "response")) as [http.IncomingMessage];
  expect(response.statusCode).toBe(200);
  expect((await server.post(toolCall(2, "whoami"), session)).status).toBe(200);
  expect(response.complete).toBe(false);
  open.destroy();
});

describe("the keys", () => {
  test("are fetched once for many requests", async () => {
    const server = await start();
    const headers = await authorization.bearer();
    const answers = await Promise.all(Array.from({ length: 20 }, () => server.post(list, headers)));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(authorization.keyRequests).toBe(1);
  });

  test("may rotate: a new one is found, an old one is good until it is gone from the cache", async () => {
    const server = await start();
    const old = await authorization.bearer();
    expect((await server.post(list, old)).status).toBe(200);
    await authorization.addKey("second", "ES256");
    authorization.removeKey("first");
    const renewed = await authorization.bearer();
    await vi.waitFor(async () => expect((await server.post(list, renewed)).status).toBe(200), {
      timeout: 20_000,
      interval: 200,
    });
    expect((await server.post(list, old)).status).toBe(401);
  });

  test("a flood of unknown ones does not become a flood of requests for keys", async () => {
    const server = await start();
    await server.post(list, await authorization.bearer());
    for (let number = 0; number < 50; number++) {
      const forged = await authorization.bearer({}, { kid: `unknown-${number}` });
      expect((await server.post(list, forged)).status).toBe(401);
    }
    // One at first, and one for each time that the flood outlasts the cooldown.
    expect(authorization.keyRequests).toBeLessThanOrEqual(3);
  });

  test("cannot be fetched at start: 503 until they can", async () => {
    await authorization.down();
    const server = await start();
    const headers = await authorization.bearer();
    const answer = await server.post(list, headers);
    expect(answer.status).toBe(503);
    expect(answer.headers["retry-after"]).toBe("5");
    expect(answer.headers["www-authenticate"]).toBeUndefined();
    expect(answer.message).toEqual({
      jsonrpc: "2.0",
      id: null,
      error: { code: -32000, message: "Access tokens cannot be verified now; try again" },
    });
    expectHarmless(server, answer, headers.authorization);
    expect(await server.logged({ message: "access token not verified" })).toMatchObject({ level: "error" });
    await authorization.up();
    expect((await server.post(list, headers)).status).toBe(200);
  });

  test("cannot be fetched later: known ones are good, a token with a new one is 503", async () => {
    const server = await start();
    const known = await authorization.bearer();
    expect((await server.post(list, known)).status).toBe(200);
    await authorization.down();
    const unknown = await authorization.bearer({}, { kid: "second" });
    await vi.waitFor(async () => expect((await server.post(list, unknown)).status).toBe(503), {
      timeout: 20_000,
      interval: 200,
    });
    expect((await server.post(list, known)).status).toBe(200);
    expect((await server.request({ path: "/livez", method: "GET" })).status).toBe(200);
  });

  test.each([
    ["an error", (res: http.ServerResponse) => void res.writeHead(500).end("down")],
    ["a redirect", (res: http.ServerResponse) => void res.writeHead(302, { location: "/other" }).end()],
    ["a page", (res: http.ServerResponse) => void res.end("<html></html>")],
    ["something else", (res: http.ServerResponse) => void res.end('{"keys":1}')],
    ["half an answer", (res: http.ServerResponse) => void res.write("{", () => res.destroy())],
    [
      "a key that is none",
      (res: http.ServerResponse) => void res.end('{"keys":[{"kty":"RSA","kid":"first","alg":"RS256"}]}'),
    ],
  ])("answered with %s are 503, never 500", async (_, answerKeys) => {
    authorization.answerKeys = answerKeys;
    const server = await start();
    const answer = await server.post(list, await authorization.bearer());
    expect(answer.status).toBe(503);
    expectHarmless(server, answer);
  });
});

describe("the metadata of the resource", () => {
  const paths = ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/team/mcp"];

  test.each(paths)("stands at %s for everybody", async (path) => {
    const server = await start();
    const answer = await server.request({ method: "GET", path });
    expect(answer.status).toBe(200);
    expect(answer.headers["content-type"]).toMatch(/^application\/json/);
    expect(JSON.parse(answer.text)).toEqual({
      resource: publicUrl,
      authorization_servers: [authorization.issuer],
      scopes_supported: ["mcp", "notes:write", "notes:read"],
      bearer_methods_supported: ["header"],
    });
    expect((await server.request({ method: "HEAD", path })).status).toBe(200);
    const posted = await server.request({ method: "POST", path });
    expect([posted.status, posted.headers.allow]).toEqual([405, "GET, HEAD"]);
  });

  test.each([
    "/.well-known/oauth-protected-resource/mcp",
    "/.well-known/oauth-protected-resource/team",
    "/.well-known/oauth-protected-resource/",
    "/.well-known/oauth-authorization-server",
    "/.well-known/openid-configuration",
  ])("%s is a 404 in JSON", async (path) => {
    const server = await start();
    const answer = await server.request({ method: "GET", path });
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.text)).toEqual({ error: "Not found" });
  });

  test("says the public URL byte for byte, and where that has no path there is one form", async () => {
    const server = await start({ MCP_PUBLIC_URL: "https://mcp.example.com:8443/" });
    const { headers } = await server.post(list);
    const url = "https://mcp.example.com:8443/.well-known/oauth-protected-resource";
    expect(headers["www-authenticate"]).toContain(`resource_metadata="${url}"`);
    const answer = await server.request({ method: "GET", path: "/.well-known/oauth-protected-resource" });
    expect(JSON.parse(answer.text).resource).toBe("https://mcp.example.com:8443/");
  });

  test("can be read by a web page of an allowed origin, as can the 401 and the 403", async () => {
    const origin = "https://app.example.com";
    const server = await start({ MCP_ALLOWED_ORIGINS: origin });
    const metadata = await server.request({ method: "GET", path: paths[0] as string, headers: { origin } });
    expect(metadata.headers["access-control-allow-origin"]).toBe(origin);
    for (const headers of [{ origin }, { origin, ...(await authorization.bearer({ scope: "" })) }]) {
      const refused = await server.post(list, headers);
      expect([401, 403]).toContain(refused.status);
      expect(refused.headers["access-control-allow-origin"]).toBe(origin);
      expect(refused.headers["access-control-expose-headers"]).toContain("WWW-Authenticate");
    }
    const preflight = await server.request({
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "POST" },
    });
    expect(preflight.status).toBe(204);
  });
});

/** Reaches a server by its public name, as a TLS proxy that takes `/team` away would. */
function throughProxy(server: HttpServer): typeof fetch {
  return async (input, init) => {
    const request = new Request(input as URL, init);
    const url = new URL(request.url);
    if (url.hostname !== "mcp.example.com") return fetch(request);
    const headers = Object.fromEntries(request.headers);
    const body = await request.text();
    const sent = http.request({
      ...server.address,
      method: request.method,
      path: url.pathname.replace(/^\/team/, "") + url.search,
      headers: { ...headers, host: url.host, "x-forwarded-proto": "https" },
    });
    sent.end(body);
    const { status, headers: answered, text } = await readAnswer(sent);
    const kept = Object.entries(answered).filter(([, value]) => typeof value === "string");
    return new Response(status === 202 || status === 204 ? null : text, {
      status,
      headers: Object.fromEntries(kept) as Record<string, string>,
    });
  };
}

/** A host whose user agrees to everything: `code` is what comes back from the authorization server. */
class Host implements OAuthClientProvider {
  readonly redirectUrl = "http://127.0.0.1/callback";
  readonly clientMetadata = { redirect_uris: [this.redirectUrl] };
  readonly askedScopes: (string | null)[] = [];
  code = "";
  #tokens: OAuthTokens | undefined;
  #verifier = "";
  clientInformation = () => ({ client_id: "host" });
  tokens = () => this.#tokens;
  saveTokens(tokens: OAuthTokens): void {
    this.#tokens = tokens;
  }
  codeVerifier = () => this.#verifier;
  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }
  async redirectToAuthorization(url: URL): Promise<void> {
    this.askedScopes.push(url.searchParams.get("scope"));
    const response = await fetch(url, { redirect: "manual" });
    this.code = new URL(response.headers.get("location") ?? "").searchParams.get("code") ?? "";
  }
}

describe("behind a TLS proxy", () => {
  test("the official client finds the authorization server by itself, and asks for more scopes when told", async () => {
    const server = await start();
    const host = new Host();
    const options = { authProvider: host, fetch: throughProxy(server) };
    const transport = () => new StreamableHTTPClientTransport(new URL(publicUrl), options);
    const first = transport();
    await expect(new Client({ name: "test", version: "1" }).connect(first)).rejects.toThrow(
      UnauthorizedError,
    );
    await first.finishAuth(host.code);

    const second = transport();
    const client = new Client({ name: "test", version: "1" });
    await client.connect(second);
    const who = await client.callTool({ name: "whoami", arguments: {} });
    expect(who.structuredContent).toEqual({ caller: "alice" });
    await expect(client.callTool({ name: "write_note", arguments: {} })).rejects.toThrow(UnauthorizedError);
    await second.finishAuth(host.code);
    const noted = await client.callTool({ name: "write_note", arguments: {} });
    expect(noted.structuredContent).toEqual({ written: true });
    expect(host.askedScopes).toEqual(["mcp", "mcp notes:write notes:read"]);
    await client.close();
  });

  test("the public name is an allowed Host, another is not", async () => {
    const server = await start();
    const headers = await authorization.bearer();
    expect((await server.post(list, { ...headers, host: "mcp.example.com" })).status).toBe(200);
    expect((await server.post(list, { ...headers, host: "evil.example" })).status).toBe(403);
  });
});

test("/health tells more only to a caller with a valid token, whatever the keys do", async () => {
  const server = await start();
  const health = async (headers: http.OutgoingHttpHeaders = {}) =>
    JSON.parse((await server.request({ method: "GET", path: "/health", headers })).text);
  expect(await health(await authorization.bearer())).toMatchObject({ uptimeSeconds: expect.any(Number) });
  expect(await health()).toEqual({ status: "ok" });
  expect(await health(await authorization.bearer({ exp: 1 }))).toEqual({ status: "ok" });
  await authorization.down();
  expect(await health(await authorization.bearer({}, { kid: "second" }))).toEqual({ status: "ok" });
});

describe("starting", () => {
  async function refusal(env: Record<string, string>): Promise<string[]> {
    const server = launch(project, env);
    expect(await server.ended).toBe(1);
    expect(server.stdout.all.join("")).toBe("");
    return server.stderr.all.filter(Boolean);
  }

  test("everything that is missing is named, together with what else is wrong", async () => {
    expect(await refusal({ PORT: "abc" })).toEqual([
      "Cannot start: PORT: expected a whole number from 0 to 65535",
      "Cannot start: MCP_PUBLIC_URL: expected a URL with https; http only on this machine",
      "Cannot start: MCP_OAUTH_ISSUER: expected a URL with https; http only on this machine",
      "Cannot start: MCP_OAUTH_JWKS_URL: expected a URL with https; http only on this machine",
    ]);
  });

  test.each([
    ["MCP_PUBLIC_URL", "http://mcp.example.com/mcp", "https"],
    ["MCP_PUBLIC_URL", "mcp.example.com", "https"],
    ["MCP_PUBLIC_URL", "https://MCP.example.com/mcp", "lower case"],
    ["MCP_PUBLIC_URL", "https://mcp.example.org", "as in"],
    ["MCP_PUBLIC_URL", "https://mcp.example.com:443/mcp", "no default port"],
    ["MCP_PUBLIC_URL", "https://mcp.example.com/mcp?a=b", "no ?"],
    ["MCP_PUBLIC_URL", "https://user:hunter2@mcp.example.com/mcp", "expected"],
    ["MCP_OAUTH_ISSUER", "issuer", "https"],
    ["MCP_OAUTH_JWKS_URL", "http://keys.example.com/jwks", "https"],
    ["MCP_OAUTH_JWKS_URL", "http://localhost.evil.example/jwks", "https"],
    ["MCP_OAUTH_SCOPES", 'mcp,a "b"', "scopes without"],
    ["MCP_OAUTH_SCOPES", "mcp read", "scopes without"],
  ])("%s=%s is refused, and not shown", async (name, value, says) => {
    const lines = await refusal({ ...authorization.settings, [name]: value });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(`Cannot start: ${name}: `);
    expect(lines[0]).toContain(says);
    expect(lines[0]).not.toContain(value);
  });

  test("under stdio none of it is needed", async () => {
    const server = launch(project, { MCP_TRANSPORT: "stdio" });
    expect(await server.ended).toBe(0);
  });
});
