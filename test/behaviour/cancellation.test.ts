import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { projectWithTools, startServer } from "../support/stdio-server.ts";

let project: string;
beforeAll(async () => {
  project = await projectWithTools("hostile-tools.ts");
});

test.each([1, -1, "0", "one"])(
  "cancelling the call with id %j fires its signal; it gets no answer",
  async (id) => {
    const server = await startServer(project).initialize();
    server.send({ id, method: "tools/call", params: { name: "waits", arguments: { ms: 60_000 } } });
    await server.logged({ message: "waiting", requestId: id });
    server.send({ method: "notifications/cancelled", params: { requestId: id, reason: "test" } });
    await server.logged({ message: "the signal fired", requestId: id });
    await server.logged({ message: "tool call cancelled", requestId: id, level: "info" });
    expect((await server.call("echo", { text: "next" })).result.structuredContent).toEqual({ text: "next" });
    expect(server.messages().filter((message) => message.id === id)).toEqual([]);
  },
);

test("a call that does not listen ends unanswered too", async () => {
  const server = await startServer(project).initialize();
  server.send({ id: 1, method: "tools/call", params: { name: "waits", arguments: { ms: 300, deaf: true } } });
  await server.logged({ message: "waiting" });
  server.send({ method: "notifications/cancelled", params: { requestId: 1 } });
  await server.logged({ message: "waited" });
  await server.call("echo", { text: "next" });
  expect(server.messages().filter(({ id }) => id === 1)).toEqual([]);
});

test("only the cancelled call is cancelled", async () => {
  const server = await startServer(project).initialize();
  for (const id of [1, 2]) {
    server.send({ id, method: "tools/call", params: { name: "waits", arguments: { ms: 400 } } });
    await server.logged({ message: "waiting", requestId: id });
  }
  server.send({ method: "notifications/cancelled", params: { requestId: 1 } });
  expect((await server.answer(2)).result.structuredContent).toEqual({ waited: true });
  expect(server.messages().filter(({ id }) => id === 1)).toEqual([]);
});

test("the official client cancels, and goes on", async () => {
  const client = new Client({ name: "test", version: "1.0.0" });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: ["dist/index.js"],
      cwd: project,
      stderr: "ignore",
    }),
  );
  onTestFinished(() => client.close());
  const cancel = new AbortController();
  const call = client.callTool(
    { name: "reports", arguments: { steps: Array(50).fill({ afterMs: 100, progress: 1 }) } },
    undefined,
    {
      signal: cancel.signal,
      onprogress: () => cancel.abort(),
    },
  );
  await expect(call).rejects.toThrow();
  const { structuredContent } = await client.callTool({ name: "echo", arguments: { text: "next" } });
  expect(structuredContent).toEqual({ text: "next" });
});
