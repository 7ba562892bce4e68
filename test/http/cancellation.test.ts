import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { beforeAll, describe, expect, test } from "vitest";
import {
  bearer,
  clientHeaders,
  messagesIn,
  readAnswer,
  startHttp,
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
        await server.logged({ message: "the signal fired", requestId: id });
        expect(performance.now() - at).toBeLessThan(1000);
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
    const at = performance.now();
    request.destroy();
    await server.logged({ message: "the signal fired" });
    await server.logged({ message: "tool call cancelled" });
    expect(performance.now() - at).toBeLessThan(1000);
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
