import { createPublicKey, type JsonWebKey } from "node:crypto";
import { CompactEncrypt, exportJWK, generateKeyPair, SignJWT } from "jose";
import { describe, expect, test } from "vitest";
import type { HttpServer } from "../support/http-server.ts";
import { authorization, expectHarmless, list, metadataUrl, start, withOAuth } from "./resource-server.ts";

withOAuth();

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
