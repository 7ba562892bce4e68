import { once } from "node:events";
import type http from "node:http";
import { decodeJwt } from "jose";
import { describe, expect, test } from "vitest";
import { toolCall } from "../support/http-server.ts";
import { authorization, list, metadataUrl, start, withOAuth } from "./resource-server.ts";

withOAuth();

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
