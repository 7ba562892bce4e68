import { once } from "node:events";
import http, { type IncomingMessage } from "node:http";
import net, { type AddressInfo } from "node:net";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { clientHeaders, launch, readAnswer, startHttp, toolCall } from "../support/http-server.ts";
import { projectWithTools } from "../support/stdio-server.ts";

let project: string;
beforeAll(async () => {
  project = await projectWithTools("hostile-tools.ts", { transport: "http", auth: "none" });
});

describe("starting", () => {
  test("a port in use: exit 1, one line, and no word of listening", async () => {
    const taken = net.createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const server = launch(project, { PORT: String(port) });
    expect(await server.ended).toBe(1);
    taken.close();
    expect(server.stderr.all.filter(Boolean)).toEqual([
      `Cannot start: PORT: cannot listen on port ${port} of 127.0.0.1: it is in use; choose another port`,
    ]);
    expect(server.stdout.all.join("")).not.toMatch(/listening/);
  });

  const bad = [
    [{ PORT: "abc" }, /^Cannot start: PORT: expected a whole number from 0 to 65535$/],
    [{ PORT: "1.5" }, /^Cannot start: PORT: /],
    [{ PORT: "65536" }, /^Cannot start: PORT: /],
    [{ PORT: "-1" }, /^Cannot start: PORT: /],
    [{ PORT: "70000" }, /^Cannot start: PORT: /],
    [{ HOST: "::" }, /^Cannot start: HOST: beyond this machine/],
    [{ HOST: "192.0.2.1" }, /^Cannot start: HOST: beyond this machine/],
    [{ HOST: "localhost.evil.example" }, /^Cannot start: HOST: beyond this machine/],
    [{ HOST: "127.0.0.1.evil.example" }, /^Cannot start: HOST: beyond this machine/],
    [{ HOST: "0.0.0.0", MCP_ALLOW_UNAUTHENTICATED: "false" }, /^Cannot start: HOST: beyond this machine/],
    [{ HOST: "192.0.2.1", MCP_ALLOW_UNAUTHENTICATED: "true" }, /: this machine has no such address$/],
    [{ MCP_TRUST_PROXY: "true" }, /^Cannot start: MCP_TRUST_PROXY: /],
    [{ MCP_ALLOWED_HOSTS: "a.example,::1" }, /^Cannot start: MCP_ALLOWED_HOSTS: item 2 is no hostname$/],
    [{ MCP_ALLOWED_ORIGINS: "app.example.com" }, /^Cannot start: MCP_ALLOWED_ORIGINS: item 1 is no origin$/],
    [{ MCP_STATELESS: "yes" }, /^Cannot start: MCP_STATELESS: .*"true"\|"false"/],
    [{ HOST: "0.0.0.0" }, /^Cannot start: HOST: beyond this machine.*MCP_ALLOW_UNAUTHENTICATED=true$/],
    [
      { HOST: "no.such.address.invalid", MCP_ALLOW_UNAUTHENTICATED: "true" },
      /^Cannot start: PORT: cannot listen/,
    ],
  ] as const;
  test.each(bad)("%j: exit 1 and one line", async (env, says) => {
    const server = launch(project, env);
    expect(await server.ended).toBe(1);
    const lines = server.stderr.all.filter(Boolean);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(says);
  });

  test("every bad variable is named at once", async () => {
    const server = launch(project, {
      PORT: "abc",
      MCP_LOG_LEVEL: "loud",
      MCP_BODY_LIMIT: "0",
      HOST: "0.0.0.0",
    });
    expect(await server.ended).toBe(1);
    const text = server.stderr.all.join("\n");
    for (const name of ["PORT", "MCP_LOG_LEVEL", "MCP_BODY_LIMIT", "HOST"])
      expect(text).toContain(`Cannot start: ${name}: `);
  });

  test("a variable of only spaces is not set", async () => {
    const server = await startHttp(project, { MCP_BODY_LIMIT: " ", MCP_MAX_SESSIONS: "  ", HOST: " " });
    expect(server.address.host).toBe("127.0.0.1");
  });

  test("every address, when told so; IPv6 too", async () => {
    const everywhere = await startHttp(project, { HOST: "0.0.0.0", MCP_ALLOW_UNAUTHENTICATED: "true" });
    expect((await everywhere.request({ method: "GET", path: "/livez" })).status).toBe(200);
    const both = await startHttp(project, { HOST: "::", MCP_ALLOW_UNAUTHENTICATED: "true" });
    for (const host of ["127.0.0.1", "::1"]) {
      const request = http.get({ host, port: both.address.port, path: "/livez", agent: false });
      expect((await readAnswer(request)).status).toBe(200);
    }
    const six = await startHttp(project, { HOST: "::1", MCP_STATELESS: "true" });
    const { status } = await six.post({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    expect(status).toBe(200);
  });
});

describe("stopping", () => {
  test.each(["SIGTERM", "SIGINT"] as const)(
    "%s: running calls finish, no new ones start, streams close, exit 0",
    async (signal) => {
      const server = await startHttp(project);
      const session = await server.session();
      const headers = { ...clientHeaders, ...session };
      const [stream] = (await once(server.open({ method: "GET", headers }), "response")) as [IncomingMessage];
      const streamEnded = once(stream.resume(), "close");
      const call = server.post(toolCall(1, "waits", { ms: 700 }), session);
      await server.logged({ message: "waiting" });

      server.process.kill(signal);
      await server.logged({ message: "stopping" });
      const refused = await server.post(toolCall(2, "echo", { text: "x" }), session);
      expect(refused.status).toBe(503);
      const health = await server.request({ method: "GET", path: "/health" });
      expect([health.status, JSON.parse(health.text).status]).toEqual([503, "unavailable"]);
      expect((await server.request({ method: "GET", path: "/livez" })).status).toBe(200);
      expect(refused.headers).toMatchObject({ connection: "close", "retry-after": "5" });
      expect(refused.message).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32000 } });

      expect((await call).message.result.structuredContent).toEqual({ waited: true });
      await streamEnded;
      expect(await server.ended).toBe(0);
    },
  );

  const modes = [
    ["with sessions", {}],
    ["with sessions in JSON", { MCP_JSON_RESPONSE: "true" }],
    ["stateless", { MCP_STATELESS: "true" }],
    ["stateless in JSON", { MCP_STATELESS: "true", MCP_JSON_RESPONSE: "true" }],
  ] as const;
  test.each(modes)("calls that take too long are cut off at the deadline, %s", async (_, env) => {
    const server = await startHttp(project, { ...env, MCP_SHUTDOWN_MS: "200" });
    const session = "MCP_STATELESS" in env ? {} : await server.session();
    const request = server.open({
      headers: { ...clientHeaders, ...session },
      body: JSON.stringify(toolCall(1, "waits", { ms: 60_000 })),
    });
    const answer = readAnswer(request).catch(() => undefined);
    await server.logged({ message: "waiting" });
    const at = performance.now();
    server.process.kill("SIGTERM");
    expect(await server.ended).toBe(0);
    expect(performance.now() - at).toBeLessThan(3000);
    await answer;
    await server.logged({ message: "the signal fired" });
  });

  test("clients that keep their connection, or are in the middle of a request, do not hold it up", async () => {
    const server = await startHttp(project);
    const agent = new http.Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const kept = http.get({ ...server.address, path: "/livez", agent });
    await readAnswer(kept);
    const half = net.connect(server.address, () => half.write("POST /mcp HTTP/1.1\r\nHost: localhost\r\n"));
    half.on("error", () => {});
    await once(half, "connect");
    const at = performance.now();
    server.process.kill("SIGTERM");
    expect(await server.ended).toBe(0);
    expect(performance.now() - at).toBeLessThan(3000);
  });

  test("a second signal ends it at once", async () => {
    const server = await startHttp(project);
    const session = await server.session();
    server.open({
      headers: { ...clientHeaders, ...session },
      body: JSON.stringify(toolCall(1, "waits", { ms: 60_000 })),
    });
    await server.logged({ message: "waiting" });
    server.process.kill("SIGTERM");
    await server.logged({ message: "stopping" });
    const at = performance.now();
    server.process.kill("SIGTERM");
    await server.ended;
    expect(performance.now() - at).toBeLessThan(1000);
  });

  test("timers and sockets that a tool left behind do not keep it", async () => {
    const server = await startHttp(project, { MCP_STATELESS: "true" });
    await server.post(toolCall(1, "lingers"));
    server.process.kill("SIGTERM");
    expect(await server.ended).toBe(0);
  });
});
