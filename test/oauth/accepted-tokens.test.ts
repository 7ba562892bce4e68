import { describe, expect, test } from "vitest";
import { publicUrl } from "../support/authorization-server.ts";
import { toolCall } from "../support/http-server.ts";
import { authorization, list, start, withOAuth } from "./resource-server.ts";

withOAuth();

/** Stands for a time that is known when the token is made. */
const justNow = "just now";

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
