import path from "node:path";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { beforeAll, expect, test } from "vitest";
import { builtProject } from "../support/generated.ts";

interface Adapter {
  connect(
    transport: Transport,
    audit: (line: string) => void,
  ): Promise<{ call(tool: string, args: unknown): Promise<unknown>; close(): Promise<void> }>;
}

let adapter: Adapter;
beforeAll(async () => {
  const project = await builtProject({ samples: true, progress: true });
  adapter = await import(path.join(project, "test", "client.ts"));
});

/** A server that answers every call alike. */
class ScriptedServer implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  readonly #answer: object;

  constructor(answer: object) {
    this.#answer = answer;
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    if (!("id" in message && "method" in message)) return;
    const handshake = {
      result: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "s", version: "1" },
      },
    };
    const answer = message.method === "initialize" ? handshake : this.#answer;
    queueMicrotask(() => this.onmessage?.({ jsonrpc: "2.0", id: message.id, ...answer } as JSONRPCMessage));
  }

  async close(): Promise<void> {
    this.onclose?.();
  }
}

const failure = { code: "SEAT_UNAVAILABLE", message: "It is taken.", retryable: true };
const content = [{ type: "text", text: "SEAT_UNAVAILABLE: It is taken." }];
const _meta = { "create-mcp-server/error": failure };

test.each([
  ["data", { result: { content: [], structuredContent: { a: 1 } } }, { ok: true, data: { a: 1 } }],
  ["a failure", { result: { isError: true, content, _meta } }, { ok: false, ...failure, protocol: false }],
  [
    "a failure that carries data",
    { result: { isError: true, content, _meta, structuredContent: { a: 1 } } },
    { ok: false, ...failure, protocol: false },
  ],
  [
    "a protocol error",
    { error: { code: -32602, message: "Unknown tool" } },
    {
      ok: false,
      code: "-32602",
      message: expect.stringContaining("Unknown tool"),
      retryable: false,
      protocol: true,
    },
  ],
])("the test adapter says how a call ended: %s", async (_, answer, outcome) => {
  const lines: string[] = [];
  const client = await adapter.connect(new ScriptedServer(answer), (line) => lines.push(line));
  expect(await client.call("reserve_seat", { seatId: "A1" })).toEqual(outcome);
  await client.close();
  const { ok, code } = outcome as { ok: boolean; code?: string };
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { tool: "reserve_seat", ok, ...(code && { code }) },
  ]);
});
