import { beforeAll, describe, expect, test } from "vitest";
import { HttpServer, startHttp, tokens } from "../support/http-server.ts";
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
    ["a short token", "alice:short", /MCP_AUTH_TOKENS: pair 1 .* at least 16 characters/],
  ] as const;
  test.each(bad)("%s: refused, exit 1, and the value is not shown", async (_, value, says) => {
    const server = new HttpServer(project, { MCP_AUTH_TOKENS: value });
    expect(await server.ended).toBe(1);
    const text = server.stderr.all.join("\n");
    expect(text).toMatch(says);
    expect(text).not.toMatch(/0123456789abcdef|short$|\n\s+at /m);
  });

  test("a missing token is named together with what else is wrong", async () => {
    const server = new HttpServer(project, { MCP_AUTH_TOKENS: "", PORT: "abc" });
    expect(await server.ended).toBe(1);
    expect(server.stderr.all.filter(Boolean).map((line) => line.split(":")[1])).toEqual([
      " PORT",
      " MCP_AUTH_TOKENS",
    ]);
  });

  test("under stdio no token is needed", async () => {
    const server = new HttpServer(project, { MCP_AUTH_TOKENS: "", MCP_TRANSPORT: "stdio" });
    // Its stdin is closed from the start: it serves nobody and ends well.
    expect(await server.ended).toBe(0);
  });
});
