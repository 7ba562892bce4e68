import { beforeAll, describe, expect, test } from "vitest";
import { bearer, bytesOf, type HttpServer, startHttp, tokens, toolCall } from "../support/http-server.ts";
import { parseLog, projectWithTools } from "../support/stdio-server.ts";

let guarded: string;
beforeAll(async () => {
  guarded = await projectWithTools("hostile-tools.ts", { transport: "both", auth: "token" });
});

/** All that a server wrote until its end. */
async function everythingOf(server: HttpServer): Promise<string> {
  server.process.kill("SIGTERM");
  await server.ended;
  return [...server.stdout.all, ...server.stderr.all].join("\n");
}

describe("the log of an HTTP server", () => {
  test("has one line for each request, without its query, and no token anywhere", async () => {
    const server = await startHttp(guarded);
    const refused = await server.request({ method: "GET", path: "/nothing?access_token=in-the-query" });
    await server.post(toolCall(1, "echo", { text: "x" }), { authorization: "Bearer wrong-0123456789abcdef" });
    const session = await server.session(bearer("alice"));
    await server.post(toolCall(2, "echo", { text: "x" }), session);

    expect(await server.logged({ message: "request", path: "/nothing" })).toMatchObject({
      method: "GET",
      status: 404,
      httpRequestId: refused.headers["x-request-id"],
      ip: expect.stringMatching(/127\.0\.0\.1$/),
      durationMs: expect.any(Number),
    });
    expect(await server.logged({ message: "request", status: 401 })).toMatchObject({ path: "/mcp" });
    expect(await server.logged({ message: "request", caller: "alice" })).toMatchObject({ status: 200 });
    expect(await server.logged({ message: "tool call done" })).toMatchObject({ tool: "echo", requestId: 2 });
    const everything = [...server.stdout.all, ...server.stderr.all].join("\n");
    expect(everything).not.toMatch(/0123456789abcdef|in-the-query/);
  });

  test("has no token, wherever a caller puts it and whatever the level", async () => {
    const server = await startHttp(guarded, { MCP_STATELESS: "true", MCP_LOG_LEVEL: "debug" });
    const token = tokens.alice;
    const jwt = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl";
    for (const secret of [token, jwt]) {
      const calls = [
        toolCall(1, "echo", { txet: secret }),
        toolCall(2, "fails", { retryable: true, [secret]: secret }),
        toolCall(3, "breaks", { what: secret }),
        toolCall(secret, "waits", { ms: 1 }),
        toolCall(4, secret),
        toolCall(5, "echo", { text: "x" }, { traceparent: secret, progressToken: secret }),
      ];
      for (const call of calls) expect((await server.post(call, bearer("alice"))).status).toBe(200);
      const headers = {
        authorization: `Basic ${secret}`,
        cookie: secret,
        "x-api-key": secret,
        "user-agent": secret,
        "mcp-session-id": secret,
        "mcp-protocol-version": secret,
        "last-event-id": secret,
      };
      await server.post(calls[0], headers);
      await server.post(calls[0], { ...headers, ...bearer("bob") });
      await server.post(calls[0], { host: secret });
      await server.request({ method: "GET", path: `/${secret}`, headers: { origin: `http://${secret}` } });
      await server.request({ method: "GET", path: `/health?token=${secret}`, headers });
    }
    const everything = await everythingOf(server);
    expect(everything).toContain('"txet":"[redacted]"');
    expect(everything).toContain('"path":"/[redacted]"');
    expect(everything).not.toContain(token);
    expect(everything).not.toMatch(/eyJ|c2lnbmF0dXJl/);
  });

  test("cannot be written to by a client: one line of JSON for each request", async () => {
    const server = await startHttp(guarded, {
      MCP_STATELESS: "true",
      MCP_LOG_LEVEL: "debug",
      MCP_TRUST_PROXY: "1",
    });
    const forged = '{"level":"info","message":"forged"}';
    const paths = [`/%0a${forged}`, `/"}${forged}`, "/\u00ff\u001b[31m", "/%E2%80%A8%1b[2J"];
    for (const path of paths) {
      const headers = {
        Authorization: `Bearer ${tokens.alice}`,
        "User-Agent": forged,
        "X-Forwarded-For": `\u0085\u001b[31m${forged}`.replace("\u001b", ""),
        "Mcp-Session-Id": forged,
      };
      await server.raw(bytesOf(headers, "", `GET ${path} HTTP/1.1`));
    }
    await server.post(toolCall(`\n${forged}`, `\n${forged}\u001b[31m`), bearer("alice"));
    await server.post(toolCall(1, "echo", { [`\n${forged}`]: `\r\n${forged}` }), bearer("alice"));
    const lines = (await everythingOf(server))
      .split("\n")
      .filter((line) => !/^(printed|written) /.test(line));
    expect(lines.filter((line) => parseLog(line).level === undefined)).toEqual([]);
    expect(lines.filter((line) => parseLog(line).message === "forged")).toEqual([]);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not reach a terminal.
    expect(lines.filter((line) => /[\u0000-\u001f]/.test(line))).toEqual([]);
    expect(lines.filter((line) => parseLog(line).message === "request").length).toBeGreaterThan(4);
  });

  test("says of a client that has gone that its answer is not complete", async () => {
    const server = await startHttp(guarded, { MCP_STATELESS: "true" });
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const body = JSON.stringify(toolCall(1, "waits", { ms: 60_000 }));
    const request = server.open({ headers: { ...headers, ...bearer("bob") }, body });
    await server.logged({ message: "waiting" });
    request.destroy();
    expect(await server.logged({ message: "request" })).toMatchObject({ complete: false, caller: "bob" });
  });
});
