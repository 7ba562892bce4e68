import path from "node:path";
import fs from "fs-extra";
import { beforeAll, describe, expect, test } from "vitest";
import { builtProject } from "../support/generated.ts";
import { bearer, bytesOf, launch, startHttp, tokens } from "../support/http-server.ts";
import { projectWithTools } from "../support/stdio-server.ts";

let project: string;
beforeAll(async () => {
  project = await projectWithTools("hostile-tools.ts", { transport: "both", auth: "token" });
});

const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };

describe("shared tokens", () => {
  test("each configured one is accepted, anything else is 401", async () => {
    const server = await startHttp(project, { MCP_STATELESS: "true" });
    for (const token of Object.values(tokens)) {
      for (const scheme of ["Bearer", "bearer"]) {
        expect((await server.post(list, { authorization: `${scheme} ${token}` })).status).toBe(200);
      }
    }
    const wrong = [
      undefined,
      "",
      "Bearer",
      "Bearer ",
      `Basic ${tokens.alice}`,
      tokens.alice,
      `Bearer ${tokens.alice}x`,
      `Bearer ${tokens.alice.slice(0, -1)}`,
      `Bearer ${tokens.alice} ${tokens.bob}`,
      "Bearer alice",
    ];
    for (const authorization of wrong) {
      const { status, headers, message } = await server.post(
        list,
        authorization === undefined ? {} : { authorization },
      );
      expect([authorization, status]).toEqual([authorization, 401]);
      expect(headers["www-authenticate"]).toMatch(
        authorization ? /^Bearer realm="mcp", error="invalid_token"$/ : /^Bearer realm="mcp"$/,
      );
      expect(message).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32000 } });
    }
  });

  test("tokens are rotated: the old and the new one of a caller are good at the same time", async () => {
    const server = await startHttp(project, {
      MCP_AUTH_TOKENS: " ci:the-old-token-of-ci , ci:the-new-token-of-ci,, other:a-token:with:colons ",
    });
    const as = (token: string) => ({ authorization: `Bearer ${token}` });
    const session = await server.session(as("the-old-token-of-ci"));
    expect((await server.post(list, { ...session, ...as("the-new-token-of-ci") })).status).toBe(200);
    expect(await server.logged({ message: "request", status: 200 })).toMatchObject({ caller: "ci" });
    expect((await server.post(list, { ...session, ...as("a-token:with:colons") })).status).toBe(404);
    expect((await server.post(list, { ...session, ...as(tokens.alice) })).status).toBe(401);
  });

  test("how they are compared does not depend on how much of them is right", async () => {
    // Time cannot be measured well enough here: the source must say it.
    const source = await fs.readFile(path.join(project, "src", "http", "auth.ts"), "utf8");
    expect(source).toMatch(/timingSafeEqual\(known\.hash, sentHash\)/);
    expect(source).toMatch(/createHash\("sha256"\)/);
    expect(source).not.toMatch(/[!=]==? (?!undefined)|includes\(|startsWith\(|indexOf\(|localeCompare/);
  });

  test("of two Authorization headers at most one is judged", async () => {
    const server = await startHttp(project, { MCP_STATELESS: "true" });
    const body = JSON.stringify(list);
    const wrong = "Bearer wrong-0123456789abcdef";
    const two = `${wrong}\r\nAuthorization: Bearer ${tokens.alice}`;
    expect(await server.raw(bytesOf({ Authorization: two }, body))).toMatch(/^HTTP\/1\.1 401 /);
    for (const name of ["Proxy-Authorization", "X-Authorization", "X-Api-Key", "Cookie"]) {
      const bytes = bytesOf({ [name]: `Bearer ${tokens.alice}` }, body);
      expect(await server.raw(bytes)).toMatch(/^HTTP\/1\.1 401 /);
    }
  });

  test("every method of /mcp needs one, a preflight and health do not", async () => {
    const server = await startHttp(project);
    for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE"]) {
      expect([method, (await server.request({ method })).status]).toEqual([method, 401]);
    }
    expect((await server.request({ method: "OPTIONS" })).status).toBe(204);
    const path = `/health?access_token=${tokens.alice}`;
    const health = await server.request({ method: "GET", path });
    expect(JSON.parse(health.text)).toEqual({ status: "ok" });
  });

  test("a token in the query string is none", async () => {
    const server = await startHttp(project, { MCP_STATELESS: "true" });
    for (const query of [`access_token=${tokens.alice}`, `token=${tokens.alice}`]) {
      expect((await server.request({ path: `/mcp?${query}`, body: "{}" })).status).toBe(401);
    }
    expect(server.stdout.all.join("\n")).not.toContain(tokens.alice);
  });
});

describe("starting", () => {
  const bad = [
    ["no token", "", /^Cannot start: MCP_AUTH_TOKENS: expected at least one name:token pair/m],
    ["a token without a name", "0123456789abcdef", /MCP_AUTH_TOKENS: pair 1 is not name:token/],
    ["only commas", " , ,", /^Cannot start: MCP_AUTH_TOKENS: expected at least one name:token pair/m],
    ["a name without a token", "alice:", /MCP_AUTH_TOKENS: pair 1 is not name:token/],
    ["a second pair that is none", "alice:0123456789abcdef,bob", /MCP_AUTH_TOKENS: pair 2 is not name:token/],
    ["a token with a space", "alice:01234567 89abcdef", /MCP_AUTH_TOKENS: pair 1 is not name:token/],
    ["a short token", "alice:short", /MCP_AUTH_TOKENS: pair 1 .* at least 16 characters/],
  ] as const;
  test.each(bad)("%s: refused, exit 1, and the value is not shown", async (_, value, says) => {
    const server = launch(project, { MCP_AUTH_TOKENS: value });
    expect(await server.ended).toBe(1);
    const text = server.stderr.all.join("\n");
    expect(text).toMatch(says);
    expect(text).not.toMatch(/0123456789abcdef|short$|\n\s+at /m);
  });

  test("where there is only HTTP, no token is no start either, on whatever address", async () => {
    const onlyHttp = await builtProject({ transport: "http", auth: "token" });
    for (const HOST of ["127.0.0.1", "0.0.0.0"]) {
      const server = launch(onlyHttp, { MCP_AUTH_TOKENS: "", HOST });
      expect(await server.ended).toBe(1);
      expect(server.stderr.all.filter(Boolean)).toEqual([
        expect.stringMatching(/^Cannot start: MCP_AUTH_TOKENS: /),
      ]);
    }
  });

  test("with tokens it may face the network, for the hosts that it is told", async () => {
    const env = { HOST: "0.0.0.0", MCP_STATELESS: "true", MCP_ALLOWED_HOSTS: "mcp.example.com" };
    const server = await startHttp(project, env);
    const judge = async (host: string) => (await server.post(list, { host, ...bearer("bob") })).status;
    expect(await judge("mcp.example.com")).toBe(200);
    expect(await judge("localhost")).toBe(200);
    expect(await judge("0.0.0.0")).toBe(403);
    expect(await judge("10.1.2.3")).toBe(403);
    expect((await server.post(list, { host: "mcp.example.com" })).status).toBe(401);
  });

  test("a missing token is named together with what else is wrong", async () => {
    const server = launch(project, { MCP_AUTH_TOKENS: "", PORT: "abc" });
    expect(await server.ended).toBe(1);
    expect(server.stderr.all.filter(Boolean).map((line) => line.split(":")[1])).toEqual([
      " PORT",
      " MCP_AUTH_TOKENS",
    ]);
  });

  test("under stdio no token is needed", async () => {
    const server = launch(project, { MCP_AUTH_TOKENS: "", MCP_TRANSPORT: "stdio" });
    // Its stdin is closed from the start: it serves nobody and ends well.
    expect(await server.ended).toBe(0);
  });
});
