import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { expect } from "vitest";
import type { Answers } from "../../src/options/declaration.ts";
import { describeProject } from "../../src/plan/project.ts";
import { AuthorizationServer } from "./authorization-server.ts";

const token = "0123456789abcdef0123456789abcdef";

/** Lets the official client list and call on a built server, over each transport that it has. */
export async function probe(project: string, answers: Answers, node = process.execPath): Promise<void> {
  const entry = path.join(project, "dist", "index.js");
  if (answers.transport !== "http") {
    await converse(
      new StdioClientTransport({
        command: node,
        args: [entry],
        env: { MCP_TRANSPORT: "stdio" },
        stderr: "ignore",
      }),
      answers,
    );
  }
  if (answers.transport !== "stdio") {
    const authorization = new AuthorizationServer();
    await authorization.addKey("first", "ES256");
    await authorization.up();
    const { url, server } = await startHttp(node, entry, {
      MCP_AUTH_TOKENS: `probe:${token}`,
      ...authorization.settings,
    });
    try {
      const headers =
        answers.auth === "oauth" ? await authorization.bearer() : { authorization: `Bearer ${token}` };
      await converse(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }), answers);
    } finally {
      await authorization.down();
      server.kill("SIGTERM");
      await once(server, "exit");
    }
    expect(server.exitCode).toBe(0);
  }
}

async function converse(transport: Transport, answers: Answers): Promise<void> {
  const client = new Client({ name: "probe", version: "1.0.0" });
  await client.connect(transport);
  try {
    const { tools } = await client.listTools();
    const expected = describeProject(answers).tools.map((tool) => tool.name);
    expect(tools.map((tool) => tool.name)).toEqual(expected);

    const [name, args] = answers.samples
      ? ["reserve_seat", { seatId: "A1" }]
      : [expected[0] as string, { id: "1" }];
    const result = await client.callTool({ name, arguments: args });
    expect(result.structuredContent).toMatchObject({ status: answers.samples ? "reserved" : "done" });
    await expect(client.callTool({ name: "no_such_tool" })).rejects.toMatchObject({ code: -32602 });
  } finally {
    await client.close();
  }
}

async function startHttp(
  node: string,
  entry: string,
  settings: Record<string, string>,
): Promise<{ url: string; server: ChildProcess }> {
  const server = spawn(node, [entry], {
    env: { PATH: process.env.PATH, PORT: "0", MCP_TRANSPORT: "http", ...settings },
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: server.stdout as NodeJS.ReadableStream })) {
    const { url } = JSON.parse(line) as { url?: string };
    if (!url) continue;
    // Whoever reads no further would block the server once the pipe is full.
    server.stdout?.resume();
    return { url, server };
  }
  throw new Error("the server ended without saying where it listens");
}
