import { once } from "node:events";
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { beforeAll, describe, expect, test } from "vitest";
import { bearer, clientHeaders, type HttpServer, startHttp, toolCall } from "../support/http-server.ts";
import { initializeParams, projectWithTools } from "../support/stdio-server.ts";

let open: string;
let guarded: string;
beforeAll(async () => {
  open = await projectWithTools("hostile-tools.ts", { transport: "http", auth: "none" });
  guarded = await projectWithTools("hostile-tools.ts", { transport: "both", auth: "token" });
});

const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const initialize = { jsonrpc: "2.0", id: 0, method: "initialize", params: initializeParams };

describe("sessions", () => {
  test("a missing session is 400, an unknown one 404, an ended one 404", async () => {
    const server = await startHttp(open);
    expect((await server.post(list)).status).toBe(400);
    for (const unknown of ["unknown", "", "x".repeat(10_000), "__proto__", "../../etc"]) {
      const headers = { ...clientHeaders, "mcp-session-id": unknown };
      for (const method of ["POST", "GET", "DELETE"]) {
        const body = method === "POST" ? JSON.stringify(list) : "";
        const { status, text } = await server.request({ method, headers, body });
        expect([unknown, method, status]).toEqual([unknown, method, 404]);
        expect(JSON.parse(text)).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32001 } });
      }
    }
    for (const method of ["GET", "DELETE"]) {
      expect((await server.request({ method, headers: clientHeaders })).status).toBe(400);
    }
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
    // The end of this answer is not the end of the session's stream.
    await server.post(list, streaming);
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
    const server = await startHttp(open, { MCP_MAX_SESSIONS: "2" });
    const kept = await server.session();
    const refused = await server.request({
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify(initialize),
    });
    expect(refused.status).toBe(406);
    const next = await server.session();
    // With a third one in between, the oldest would have had to give way.
    expect((await server.post(list, kept)).status).toBe(200);
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

  const ends = [
    [
      "when its session is deleted",
      (server: HttpServer, headers: OutgoingHttpHeaders) => server.request({ method: "DELETE", headers }),
    ],
    ["when its session gives way to another", (server: HttpServer) => server.session()],
  ] as const;
  test.each(ends)("ends %s", async (_, end) => {
    const server = await startHttp(open, { MCP_MAX_SESSIONS: "1", MCP_LOG_LEVEL: "debug" });
    const session = await server.session();
    const headers = { ...clientHeaders, ...session };
    const [stream] = (await once(server.open({ method: "GET", headers }), "response")) as [IncomingMessage];
    const ended = once(stream.resume(), "end");
    await end(server, session);
    await ended;
    await server.logged({ message: "session closed", sessionId: session["mcp-session-id"] });
    expect((await server.post(list, session)).status).toBe(404);
  });

  test("a client that asks for what it missed gets a stream: nothing is kept to be sent again", async () => {
    const server = await startHttp(open);
    const headers = { ...clientHeaders, ...(await server.session()), "last-event-id": "1_0" };
    const request = server.open({ method: "GET", headers });
    const [stream] = (await once(request, "response")) as [IncomingMessage];
    expect([stream.statusCode, stream.headers["content-type"]]).toEqual([200, "text/event-stream"]);
    request.destroy();
  });
});

describe("the protocol's headers, within a session", () => {
  test("a version that the server does not know is 400, and harms nothing", async () => {
    const server = await startHttp(open);
    const session = await server.session();
    for (const version of ["1999-01-01", "", "2025-11-25, 2025-06-18"]) {
      const refused = await server.post(list, { ...session, "mcp-protocol-version": version });
      expect([version, refused.status]).toEqual([version, 400]);
      expect(refused.message).toMatchObject({ jsonrpc: "2.0", error: { code: -32000 } });
    }
    for (const version of ["2025-03-26", "2025-06-18", "2025-11-25"]) {
      expect((await server.post(list, { ...session, "mcp-protocol-version": version })).status).toBe(200);
    }
  });

  test("what a client does not accept is 406", async () => {
    const server = await startHttp(open);
    const session = await server.session();
    const headers = { "content-type": "application/json", ...session };
    const body = JSON.stringify(list);
    expect((await server.request({ headers, body })).status).toBe(406);
    expect((await server.request({ method: "GET", headers: session })).status).toBe(406);
    expect((await server.post(list, session)).status).toBe(200);
  });

  test("a second initialize is refused, and so is one that is malformed, under its id", async () => {
    const server = await startHttp(open);
    const session = await server.session();
    expect((await server.post(initialize, session)).status).toBe(400);
    expect((await server.post(list, session)).status).toBe(200);
    const malformed = await server.post({ ...initialize, id: 7, params: { protocolVersion: 5 } });
    expect(malformed.message).toMatchObject({ id: 7, error: { code: -32602, message: "Invalid params" } });
    expect(malformed.headers["mcp-session-id"]).toBeUndefined();
    expect((await server.post({ ...initialize, params: undefined })).message.error?.code).toBe(-32600);
  });
});
