import { once } from "node:events";
import net from "node:net";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { clientHeaders, type HttpServer, startHttp, toolCall } from "../support/http-server.ts";
import { initializeParams, parseLog, projectWithTools } from "../support/stdio-server.ts";

let project: string;
beforeAll(async () => {
  project = await projectWithTools("hostile-tools.ts", { transport: "http", auth: "none" });
});

const modes = [
  ["with sessions", { MCP_MAX_SESSIONS: "1" }],
  ["stateless", { MCP_STATELESS: "true" }],
] as const;

/** The headers of the only session there is room for, or none. */
async function onlySession(server: HttpServer, env: object): Promise<Record<string, string>> {
  return "MCP_STATELESS" in env ? {} : ((await server.session()) as Record<string, string>);
}

/** Sends messages one after the other over one connection, without waiting for answers. */
function pipeline(server: HttpServer, session: Record<string, string>, messages: object[]): net.Socket {
  const socket = net.connect(server.address);
  socket.on("error", () => {});
  for (const message of messages) {
    const body = JSON.stringify(message);
    const headers = { host: "localhost", ...clientHeaders, ...session, "content-length": body.length };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`POST /mcp HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
  }
  return socket;
}

/** A session in which a call is still running would not give way. */
async function expectRoom(server: HttpServer): Promise<void> {
  const initialize = { jsonrpc: "2.0", id: 0, method: "initialize", params: initializeParams };
  expect((await server.post(initialize)).status).toBe(200);
}

describe.each(modes)("pipelined requests, %s", (_, env) => {
  test("are answered in their order", async () => {
    const server = await startHttp(project, env);
    const session = await onlySession(server, env);
    const slow = toolCall(1, "waits", { ms: 300 });
    const quick = [2, 3, 4].map((id) => toolCall(id, "echo", { text: `text ${id}` }));
    const socket = pipeline(server, session, [slow, ...quick]).setEncoding("utf8");
    let text = "";
    for await (const chunk of socket) {
      text += chunk;
      if (text.includes("text 4")) break;
    }
    expect(text.match(/"waited":true|"text":"text \d/g)).toEqual([
      '"waited":true',
      ...[2, 3, 4].map((id) => `"text":"text ${id}`),
    ]);
  });

  test("a client that goes takes along all of its calls", async () => {
    const server = await startHttp(project, env);
    const session = await onlySession(server, env);
    const ids = Array.from({ length: 20 }, (_, index) => index + 1);
    const calls = ids.map((id) => toolCall(id, "waits", { ms: 60_000 }));
    const socket = pipeline(server, session, calls);
    for (const requestId of ids) await server.logged({ message: "waiting", requestId });
    socket.destroy();
    for (const requestId of ids) await server.logged({ message: "tool call cancelled", requestId });
    await expectRoom(server);
    expect(server.stderr.all.join("")).toBe("");
  });
});

test("a client that goes while its body is unpacked leaves no call running", async () => {
  const server = await startHttp(project, { MCP_MAX_SESSIONS: "1" });
  const session = await server.session();
  const headers = { ...clientHeaders, ...session, "content-encoding": "gzip" };
  for (let id = 1; id <= 20; id++) {
    const call = JSON.stringify(toolCall(id, "waits", { ms: 60_000 }));
    const request = server.open({ headers, body: gzipSync(call + " ".repeat(900_000)) });
    await once(request, "finish");
    request.destroy();
  }
  let dropped = 0;
  await server.stdout.find((line) => {
    const { message, complete } = parseLog(line);
    if (message === "request" && complete === false) dropped++;
    return dropped === 20 || undefined;
  }, "the end of all requests");
  await expectRoom(server);
});
