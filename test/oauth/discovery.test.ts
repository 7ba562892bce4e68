import http from "node:http";
import { type OAuthClientProvider, UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";
import { describe, expect, test } from "vitest";
import { publicUrl } from "../support/authorization-server.ts";
import { type HttpServer, readAnswer } from "../support/http-server.ts";
import { authorization, list, start, withOAuth } from "./resource-server.ts";

withOAuth();

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
