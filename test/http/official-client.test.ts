import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { beforeAll, describe, expect, test } from "vitest";
import { startHttp, tokens } from "../support/http-server.ts";
import { projectWithTools } from "../support/stdio-server.ts";

let open: string;
let guarded: string;
beforeAll(async () => {
  open = await projectWithTools("hostile-tools.ts", { transport: "http", auth: "none" });
  guarded = await projectWithTools("hostile-tools.ts", { transport: "both", auth: "token" });
});

describe("the official client", () => {
  const modes = [
    ["with sessions", {}],
    ["stateless", { MCP_STATELESS: "true" }],
    ["in JSON", { MCP_JSON_RESPONSE: "true" }],
    ["stateless in JSON", { MCP_STATELESS: "true", MCP_JSON_RESPONSE: "true" }],
  ] as const;

  test.each(modes)("lists, calls and fails as it should, %s", async (_, env) => {
    const server = await startHttp(guarded, env);
    const client = new Client({ name: "test", version: "1.0.0" });
    const headers = { Authorization: `Bearer ${tokens.alice}` };
    await client.connect(new StreamableHTTPClientTransport(server.url, { requestInit: { headers } }));
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toContain("echo");
    const echoed = await client.callTool({ name: "echo", arguments: { text: "hello" } });
    expect(echoed.structuredContent).toEqual({ text: "hello" });
    const failed = await client.callTool({ name: "fails", arguments: { retryable: true } });
    expect(failed).toMatchObject({
      isError: true,
      _meta: { "create-mcp-server/error": { code: "OUT_OF_STOCK" } },
    });
    const bad = await client.callTool({ name: "echo", arguments: { txet: "x" } });
    expect(bad).toMatchObject({ isError: true });
    await expect(client.callTool({ name: "no_such_tool" })).rejects.toMatchObject({ code: -32602 });
    const broke = client.callTool({ name: "breaks", arguments: { what: "error" } });
    await expect(broke).rejects.toMatchObject({ code: -32603 });
    await expect(broke).rejects.not.toThrow(/hunter2|postgres/);
    await client.close();
  });

  test("gets progress on the response's stream, before the result", async () => {
    const server = await startHttp(open);
    const client = new Client({ name: "test", version: "1.0.0" });
    await client.connect(new StreamableHTTPClientTransport(server.url));
    const seen: number[] = [];
    const steps = [1, 2, 3].map((progress) => ({ afterMs: 250, progress, total: 3 }));
    await client.callTool({ name: "reports", arguments: { steps } }, undefined, {
      onprogress: ({ progress }) => seen.push(progress),
    });
    expect(seen).toEqual([1, 2, 3]);
    await client.close();
  });
});
