import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { beforeAll, describe, expect, test } from "vitest";
import {
  bearer,
  clientHeaders,
  messagesIn,
  readAnswer,
  startHttp,
  tokens,
  toolCall,
} from "../support/http-server.ts";
import { initializeParams, projectWithTools } from "../support/stdio-server.ts";

let open: string;
let guarded: string;
beforeAll(async () => {
  open = await projectWithTools("hostile-tools.ts", { transport: "http", auth: "none" });
  guarded = await projectWithTools("hostile-tools.ts", { transport: "both", auth: "token" });
});

const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const initialize = { jsonrpc: "2.0", id: 0, method: "initialize", params: initializeParams };
const cancelled = (requestId: number | string) => ({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId },
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

describe("sessions", () => {
  test("a missing session is 400, an unknown one 404, an ended one 404", async () => {
    const server = await startHttp(open);
    expect((await server.post(list)).status).toBe(400);
    expect((await server.post(list, { "mcp-session-id": "unknown" })).status).toBe(404);
    const session = await server.session();
    expect((await server.post(list, session)).status).toBe(200);
    expect((await server.request({ method: "DELETE", headers: session })).status).toBe(200);
    expect((await server.post(list, session)).status).toBe(404);
    expect((await server.request({ method: "GET", headers: { ...clientHeaders, ...session } })).status).toBe(
      404,
    );
  });

  test("an idle session is closed; one with an open stream or a running call is not", async () => {
    const server = await startHttp(open, { MCP_SESSION_IDLE_MS: "300", MCP_LOG_LEVEL: "debug" });
    const idle = await server.session();
    const streaming = await server.session();
    const stream = server.open({ method: "GET", headers: { ...clientHeaders, ...streaming } });
    await once(stream, "response");
    const calling = await server.session();
    const call = server.post(toolCall(1, "waits", { ms: 900 }), calling);
    await server.logged({ message: "session closed", sessionId: idle["mcp-session-id"] });
    expect((await server.post(list, idle)).status).toBe(404);
    expect((await call).message.result.structuredContent).toEqual({ waited: true });
    expect((await server.post(list, streaming)).status).toBe(200);
    stream.destroy();
    await server.logged({ message: "session closed", sessionId: streaming["mcp-session-id"] });
  });

  test("there are at most as many as configured: the longest unused one gives way, a busy one does not", async () => {
    const server = await startHttp(open, { MCP_MAX_SESSIONS: "2" });
    const first = await server.session();
    const second = await server.session();
    await server.post(list, first);
    const third = await server.session();
    expect((await server.post(list, second)).status).toBe(404);
    expect((await server.post(list, first)).status).toBe(200);

    for (const [id, busy] of [first, third].entries()) {
      server.open({
        headers: { ...clientHeaders, ...busy },
        body: JSON.stringify(toolCall(100 + id, "waits", { ms: 60_000 })),
      });
      await server.logged({ message: "waiting", requestId: 100 + id });
    }
    const full = await server.post(initialize);
    expect([full.status, full.headers["retry-after"]]).toEqual([503, "5"]);
    expect((await server.post(list, first)).status).toBe(200);
  });

  test("an initialize that the transport refuses leaves no session behind", async () => {
    const server = await startHttp(open, { MCP_MAX_SESSIONS: "1" });
    const kept = await server.session();
    await server.post(list, kept);
    const refused = await server.request({
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify(initialize),
    });
    expect(refused.status).toBe(406);
    const next = await server.session();
    expect((await server.post(list, next)).status).toBe(200);
  });

  test("a session belongs to the caller that opened it", async () => {
    const server = await startHttp(guarded);
    const session = await server.session(bearer("alice"));
    expect((await server.post(list, { ...session, ...bearer("bob") })).status).toBe(404);
    expect((await server.post(list, session)).status).toBe(200);
  });

  test("an id that is still in use is refused; the first call is answered", async () => {
    const server = await startHttp(open);
    const session = await server.session();
    const call = server.post(toolCall(1, "waits", { ms: 400 }), session);
    await server.logged({ message: "waiting" });
    const second = await server.post(toolCall(1, "echo", { text: "x" }), session);
    expect([second.status, second.message.error?.code]).toEqual([400, -32600]);
    expect((await call).message.result.structuredContent).toEqual({ waited: true });
    const third = await server.post(toolCall(1, "echo", { text: "x" }), session);
    expect(third.message.result.structuredContent).toEqual({ text: "x" });
  });

  test("two clients with the same request ids do not meet", async () => {
    const server = await startHttp(open);
    const sessions = await Promise.all([server.session(), server.session()]);
    const texts = await Promise.all(
      sessions.map((session, index) =>
        server.post(toolCall(5, "echo", { text: `client ${index}` }), session),
      ),
    );
    expect(texts.map(({ message }) => message.result.structuredContent.text)).toEqual([
      "client 0",
      "client 1",
    ]);
  });
});

describe("cancellation", () => {
  const modes = [
    ["a stream", {}],
    ["JSON", { MCP_JSON_RESPONSE: "true" }],
  ] as const;

  test.each(modes)(
    "by notification: the signal fires and the response ends within 1 s, without an answer, as %s",
    async (_, env) => {
      const server = await startHttp(open, env);
      const session = await server.session();
      for (const id of [1, 2, 3]) {
        const request = server.open({
          headers: { ...clientHeaders, ...session },
          body: JSON.stringify(toolCall(id, "waits", { ms: 60_000 })),
        });
        const answer = readAnswer(request);
        await server.logged({ message: "waiting", requestId: id });
        const at = performance.now();
        expect((await server.post(cancelled(id), session)).status).toBe(202);
        expect((await answer).text).not.toMatch(/result|error/);
        expect(performance.now() - at).toBeLessThan(1000);
        await server.logged({ message: "the signal fired", requestId: id });
      }
      expect(
        (await server.post(toolCall(9, "echo", { text: "on" }), session)).message.result.structuredContent,
      ).toEqual({
        text: "on",
      });
    },
  );

  const drops = [
    ["with sessions", {}],
    ["stateless", { MCP_STATELESS: "true" }],
    ["with sessions in JSON", { MCP_JSON_RESPONSE: "true" }],
    ["stateless in JSON", { MCP_STATELESS: "true", MCP_JSON_RESPONSE: "true" }],
  ] as const;
  test.each(drops)("by a dropped connection: the signal fires, %s", async (_, env) => {
    const server = await startHttp(open, env);
    const session = "MCP_STATELESS" in env ? {} : await server.session();
    const request = server.open({
      headers: { ...clientHeaders, ...session },
      body: JSON.stringify(toolCall(4, "waits", { ms: 60_000 })),
    });
    await server.logged({ message: "waiting" });
    request.destroy();
    await server.logged({ message: "the signal fired" });
    await server.logged({ message: "tool call cancelled" });
  });

  test.each(modes)("of one call of a batch leaves the others alone, as %s", async (_, env) => {
    const server = await startHttp(open, env);
    const session = await server.session();
    const batch = [toolCall(1, "waits", { ms: 60_000 }), toolCall(2, "waits", { ms: 500 })];
    const answer = server.request({ headers: { ...clientHeaders, ...session }, body: JSON.stringify(batch) });
    await server.logged({ message: "waiting", requestId: 2 });
    await server.post(cancelled(1), session);
    const answered = messagesIn(await answer).find(({ id }) => id === 2);
    expect(answered?.result.structuredContent).toEqual({ waited: true });
  });

  test.each(modes)("in the same batch as the call ends the response, as %s", async (_, env) => {
    const server = await startHttp(open, env);
    const session = await server.session();
    const batch = [toolCall(1, "waits", { ms: 60_000 }), cancelled(1)];
    const body = JSON.stringify(batch);
    const answer = await server.request({ headers: { ...clientHeaders, ...session }, body });
    expect(messagesIn(answer)).toEqual([]);
    expect((await server.post(list, session)).status).toBe(200);
  });

  test.each(modes)("at any moment is fine, as %s", async (_, env) => {
    const server = await startHttp(open, env);
    const session = await server.session();
    await Promise.all(
      Array.from({ length: 100 }, async (_, id) => {
        const call = server.post(toolCall(id, "waits", { ms: id % 10 }), session);
        const cancel = server.post(cancelled(id), session);
        const [{ status, message }] = await Promise.all([call, cancel]);
        expect([200, 202]).toContain(status);
        if (message) expect(message).toMatchObject({ id, result: { structuredContent: { waited: true } } });
      }),
    );
    expect((await server.post(list, session)).status).toBe(200);
    expect(server.stderr.all.join("")).toBe("");
    expect(server.stdout.all.join("\n")).not.toMatch(/request broke|uncaught/);
  });

  test("reaches no call of another session, and is none of another caller's business", async () => {
    const server = await startHttp(guarded);
    const alice = await server.session(bearer("alice"));
    const bob = await server.session(bearer("bob"));
    const call = server.post(toolCall(1, "waits", { ms: 400 }), alice);
    await server.logged({ message: "waiting" });
    expect((await server.post(cancelled(1), bob)).status).toBe(202);
    expect((await server.post(cancelled(1), { ...alice, ...bearer("bob") })).status).toBe(404);
    const end = { method: "DELETE", headers: { ...alice, ...bearer("bob") } };
    expect((await server.request(end)).status).toBe(404);
    expect((await call).message.result.structuredContent).toEqual({ waited: true });
  });

  test("leaves nothing behind that would make the session look busy", async () => {
    const server = await startHttp(open, { MCP_MAX_SESSIONS: "1" });
    const session = await server.session();
    const call = (id: number) =>
      server.open({
        headers: { ...clientHeaders, ...session },
        body: JSON.stringify(toolCall(id, "waits", { ms: 60_000 })),
      });
    const told = readAnswer(call(1));
    await server.logged({ message: "waiting", requestId: 1 });
    await server.post(cancelled(1), session);
    await told;
    const dropped = call(2);
    await server.logged({ message: "waiting", requestId: 2 });
    expect((await server.post(initialize)).status).toBe(503);
    dropped.destroy();
    await server.logged({ message: "tool call cancelled", requestId: 2 });
    // A busy session would not give way.
    expect((await server.post(initialize)).status).toBe(200);
    expect((await server.post(list, session)).status).toBe(404);
  });

  test.each(modes)("by the end of the session: signal and response, as %s", async (_, env) => {
    const server = await startHttp(open, env);
    const session = await server.session();
    const call = server.request({
      headers: { ...clientHeaders, ...session },
      body: JSON.stringify(toolCall(1, "waits", { ms: 60_000 })),
    });
    await server.logged({ message: "waiting" });
    await server.request({ method: "DELETE", headers: session });
    await server.logged({ message: "the signal fired" });
    expect((await call).text).not.toMatch(/result/);
  });

  test("progress for a client that has gone harms nobody", async () => {
    for (const env of [{}, { MCP_STATELESS: "true" }]) {
      const server = await startHttp(open, env);
      const session = "MCP_STATELESS" in env ? {} : await server.session();
      const steps = [1, 2, 3, 4].map((progress) => ({ afterMs: 210, progress, total: 4 }));
      const request = server.open({
        headers: { ...clientHeaders, ...session },
        body: JSON.stringify(toolCall(1, "reports", { steps }, { progressToken: 0 })),
      });
      const [response] = (await once(request, "response")) as [IncomingMessage];
      await once(response, "data");
      request.destroy();
      await server.logged({ message: "tool call done" });
      expect((await server.post(list, session)).status).toBe(200);
      expect(server.stdout.all.join("\n")).not.toMatch(/request broke|uncaught|tool call broke/);
    }
  });

  test("an answer that was read to its end is no dropped connection", async () => {
    const server = await startHttp(open);
    const session = await server.session();
    await server.post(toolCall(1, "waits", { ms: 50 }), session);
    await server.logged({ message: "tool call done", requestId: 1 });
    expect(server.stdout.all.join("\n")).not.toMatch(/the signal fired/);
  });
});

describe("streams", () => {
  test("a session has one stream of its own", async () => {
    const server = await startHttp(open);
    const session = await server.session();
    const headers = { ...clientHeaders, ...session };
    const [stream] = (await once(server.open({ method: "GET", headers }), "response")) as [IncomingMessage];
    expect(stream.headers["content-type"]).toBe("text/event-stream");
    expect((await server.request({ method: "GET", headers })).status).toBe(409);
    stream.destroy();
  });
});
