import { readFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { startHttp, toolCall } from "../support/http-server.ts";
import { initializeParams, projectWithTools } from "../support/stdio-server.ts";

let project: string;
beforeAll(async () => {
  project = await projectWithTools("hostile-tools.ts", { transport: "http", auth: "none" });
});

const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const initialize = { jsonrpc: "2.0", id: 0, method: "initialize", params: initializeParams };
const modes = [
  ["a stream", { MCP_STATELESS: "true" }],
  ["JSON", { MCP_STATELESS: "true", MCP_JSON_RESPONSE: "true" }],
] as const;

describe.each(modes)("without sessions, answered as %s", (_, env) => {
  test("nobody gets a session, and nobody needs one", async () => {
    const server = await startHttp(project, env);
    const { headers, message } = await server.post(initialize);
    expect(message.result.protocolVersion).toBe(initializeParams.protocolVersion);
    expect(headers["mcp-session-id"]).toBeUndefined();
    expect((await server.post({ jsonrpc: "2.0", method: "notifications/initialized" })).status).toBe(202);
    for (const extra of [{}, { "mcp-session-id": "of-another-replica" }, { "last-event-id": "1_0" }]) {
      const answer = await server.post(toolCall(2, "echo", { text: "x" }), extra);
      expect(answer.message.result.structuredContent).toEqual({ text: "x" });
      expect(answer.headers["mcp-session-id"]).toBeUndefined();
    }
  });

  test("clients with the same request ids do not meet", async () => {
    const server = await startHttp(project, env);
    const texts = Array.from({ length: 20 }, (_, index) => `client ${index}`);
    const answers = await Promise.all(texts.map((text) => server.post(toolCall(5, "echo", { text }))));
    expect(answers.map(({ message }) => message.result.structuredContent.text)).toEqual(texts);
  });

  test("a malformed initialize is told so without a dump", async () => {
    const server = await startHttp(project, env);
    for (const params of [{}, { protocolVersion: 5 }, undefined]) {
      const { message } = await server.post({ ...initialize, params });
      expect(message).toMatchObject({ id: 0, error: { code: expect.any(Number) } });
      expect(message.error?.message).not.toMatch(/invalid_type|expected|\[\n/);
    }
  });
});

test("the README says what is given up", async () => {
  const readme = await readFile(path.join(project, "README.md"), "utf8");
  expect(readme).toMatch(/`MCP_STATELESS=true`[^\n]*gives up[^\n]*GET[^\n]*cancel/);
});

test("the list and its schemas are made once for all clients", async () => {
  const counting = await projectWithTools("counting-tools.ts", { transport: "http", auth: "none" });
  for (const env of [{ MCP_STATELESS: "true" }, {}]) {
    const server = await startHttp(counting, env);
    const texts: string[] = [];
    for (let i = 0; i < 3; i += 1) {
      const session = "MCP_STATELESS" in env ? {} : await server.session();
      await server.post(toolCall(2, "counted"), session);
      texts.push((await server.post(list, session)).text);
    }
    expect(texts[0]).toMatch(/Was read \d+ times\./);
    expect(new Set(texts).size).toBe(1);
  }
});
