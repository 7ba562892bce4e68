import type http from "node:http";
import { describe, expect, test } from "vitest";
import { launch } from "../support/http-server.ts";
import { authorization, project, start, withOAuth } from "./resource-server.ts";

withOAuth();

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
