import { beforeAll, beforeEach, expect } from "vitest";
import { type AuthorizationServer, startAuthorizationServer } from "../support/authorization-server.ts";
import { type Answer, type HttpServer, startHttp } from "../support/http-server.ts";
import { projectWithTools } from "../support/stdio-server.ts";

/** A generated and built server that takes access tokens. */
export let project: string;
/** The authorization server of the test that runs. */
export let authorization: AuthorizationServer;

/** Gives a test file the two above. */
export function withOAuth(): void {
  beforeAll(async () => {
    project = await projectWithTools("scoped-tools.ts", { transport: "both", auth: "oauth" });
  });
  beforeEach(async () => {
    authorization = await startAuthorizationServer();
  });
}

export const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
export const metadataUrl = "https://mcp.example.com/.well-known/oauth-protected-resource/team/mcp";

/** Starts the resource server. */
export const start = (env: Record<string, string> = {}) =>
  startHttp(project, { ...authorization.settings, MCP_STATELESS: "true", ...env });

/** What never may be seen: a server error, a stack, or the token. */
export function expectHarmless(server: HttpServer, answer: Answer, token = ""): void {
  expect(answer.text).not.toMatch(/\n\s+at |<html/i);
  const seen = [answer.text, ...server.stdout.all, ...server.stderr.all].join("\n");
  // Its signature, which makes it a secret.
  const secret = token.split(".").at(-1) ?? "";
  if (secret.length > 8) expect(seen).not.toContain(secret);
}
