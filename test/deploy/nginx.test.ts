import { once } from "node:events";
import http from "node:http";
import net, { type AddressInfo } from "node:net";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { builtProject } from "../support/generated.ts";
import {
  type Answer,
  bearer,
  clientHeaders,
  messagesIn,
  readAnswer,
  toolCall,
} from "../support/http-server.ts";
import { noNginx } from "./debian-nginx.ts";
import { freePort, Nginx, startReplica, startReplicated } from "./nginx.ts";

if (noNginx) console.warn(`The nginx tests are skipped: ${noNginx}.`);

const answers = { transport: "http", samples: true, progress: true, docker: true, deploy: "nginx" } as const;
const headers = { ...clientHeaders, ...bearer("alice") };
const readOrder = (id: number) => JSON.stringify(toolCall(id, "query_order", { orderId: "ORD-1001" }));

let project: string;
beforeAll(async () => {
  project = await builtProject({ ...answers, auth: "token" });
});

describe.skipIf(noNginx)("behind nginx", () => {
  test("any replica answers any client, who need not know", async () => {
    const { nginx, replicas } = await startReplicated(project);
    const client = new Client({ name: "test", version: "1.0.0" });
    await client.connect(
      new StreamableHTTPClientTransport(nginx.url, { requestInit: { headers: bearer("alice") } }),
    );
    onTestFinished(() => client.close());
    for (let i = 0; i < 12; i++) {
      const result = await client.callTool({ name: "query_order", arguments: { orderId: "ORD-1001" } });
      expect(result.structuredContent).toMatchObject({ id: "ORD-1001" });
    }
    for (const replica of replicas) await replica.logged({ message: "request", path: "/mcp", status: 200 });
  });

  test("without auth it works the same", async () => {
    const open = await builtProject({ ...answers, auth: "none" });
    const { nginx } = await startReplicated(open, 1, {});
    const answer = await nginx.request({ headers: clientHeaders, body: readOrder(1) });
    expect(messagesIn(answer)).toEqual([expect.objectContaining({ id: 1, result: expect.anything() })]);
  });

  test("progress arrives when it is sent, before the result", async () => {
    const { nginx, replicas } = await startReplicated(project, 1);
    const docIds = Array.from({ length: 10 }, (_, i) => `doc-${(i % 3) + 1}`);
    const body = JSON.stringify(toolCall(1, "batch_translate", { docIds }, { progressToken: "p" }));
    const [response] = (await once(nginx.open({ headers, body }), "response")) as [http.IncomingMessage];
    const arrived: { chunk: string; at: number; ended: boolean }[] = [];
    for await (const chunk of response.setEncoding("utf8")) {
      const ended = replicas[0]?.stdout.all.some((line) => line.includes('"tool":"batch_translate"'));
      arrived.push({ chunk, at: performance.now(), ended: ended ?? false });
    }
    const progress = arrived.filter(({ chunk }) => chunk.includes("notifications/progress"));
    const result = arrived.findIndex(({ chunk }) => chunk.includes('"structuredContent"'));
    expect(progress.length).toBeGreaterThanOrEqual(2);
    expect(arrived.indexOf(progress[1] as (typeof arrived)[number])).toBeLessThan(result);
    // The server leaves 200 ms between two of them. Kept back, they would arrive together, after the call.
    expect((progress[1]?.at ?? 0) - (progress[0]?.at ?? 0)).toBeGreaterThan(100);
    expect(progress[0]?.ended).toBe(false);
  });

  test("a client that goes away cancels its call within a second", async () => {
    const { nginx, replicas } = await startReplicated(project, 1);
    const docIds = Array.from({ length: 100 }, () => "doc-1");
    const body = JSON.stringify(toolCall(1, "batch_translate", { docIds }, { progressToken: "p" }));
    const request = nginx.open({ headers, body });
    const [response] = (await once(request, "response")) as [http.IncomingMessage];
    await once(response, "data");
    const goneAt = performance.now();
    request.destroy();
    await replicas[0]?.logged({ message: "request", path: "/mcp", complete: false });
    expect(performance.now() - goneAt).toBeLessThan(1000);
  });

  test("the replica sees the public Host, and who the client is", async () => {
    const port = await freePort();
    const replica = await startReplica(project, port, { MCP_ALLOWED_HOSTS: "mcp.example.com" });
    const nginx = await (await Nginx.start(project, [port])).listening();
    const ask = (host: string) =>
      nginx.request({
        headers: { ...headers, host, "x-forwarded-for": "203.0.113.9" },
        body: readOrder(1),
      });
    expect((await ask("mcp.example.com")).status).toBe(200);
    expect((await ask("foreign.example.com")).status).toBe(403);
    // What a client claims about itself is not believed.
    expect(await replica.logged({ message: "request", status: 403 })).toMatchObject({ ip: "127.0.0.1" });
  });

  test("replicas keep unused connections longer than nginx does", async () => {
    const { replicas } = await startReplicated(project, 1);
    const agent = new http.Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    const request = http.get({ ...replicas[0]?.address, path: "/livez", agent });
    const { headers: answered } = await readAnswer(request);
    const [, seconds] = /timeout=(\d+)/.exec(String(answered["keep-alive"])) ?? [];
    expect(Number(seconds)).toBeGreaterThan(60);
  });
});

describe.skipIf(noNginx)("errors of nginx itself", () => {
  function expectJson(answer: Answer, status: number): void {
    expect(answer.status).toBe(status);
    expect(answer.headers["content-type"]).toMatch(/^application\/json/);
    expect(JSON.parse(answer.text)).toEqual({
      jsonrpc: "2.0",
      id: null,
      error: { code: -32000, message: expect.any(String) },
    });
    expect(answer.headers.server).toBe("nginx");
  }

  test("a body over the limit: 413, and no replica has seen it", async () => {
    const { nginx, replicas } = await startReplicated(project, 1);
    const whole = (size: number) => `"${"x".repeat(size - 2)}"`;
    expectJson(await nginx.request({ headers, body: whole(1_000_001) }), 413);
    // The largest allowed body is the server's to judge.
    expect((await nginx.request({ headers, body: whole(1_000_000) })).status).toBe(400);
    await replicas[0]?.logged({ message: "request", status: 400 });
    expect(replicas[0]?.stdout.all.join("\n")).not.toContain("413");
  });

  test("no replica there: 502", async () => {
    const ports = [await freePort(), await freePort(), await freePort()];
    const nginx = await (await Nginx.start(project, ports)).listening();
    expectJson(await nginx.request({ headers, body: readOrder(1) }), 502);
    expectJson(await nginx.request({ method: "GET", path: "/health" }), 502);
  });

  test("what is no request: 400, 405, 414, 431 and 5xx without HTML", async () => {
    const nginx = await (await Nginx.start(project, [await freePort()])).listening();
    const cases: [string, number][] = [
      ["NONSENSE\r\n\r\n", 400],
      ["GET /../../etc HTTP/1.1\r\nHost: a\r\n\r\n", 400],
      ["GET / HTTP/1.1\r\n\r\n", 400],
      ["TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", 405],
      [`GET /${"x".repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 414],
      [`GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 400],
      ["POST /mcp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: foo\r\n\r\n", 501],
      ["GET / HTTP/3.0\r\n\r\n", 505],
    ];
    for (const [bytes, status] of cases) {
      const text = await raw(nginx, bytes);
      expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(text).toMatch(/\r\nContent-Type: application\/json\r\n/);
      expect(text).toMatch(/\r\n\r\n\{"jsonrpc":"2\.0","id":null,"error":\{.*\}\}$/);
    }
  });

  function raw(nginx: Nginx, bytes: string): Promise<string> {
    return new Promise((resolve, reject) => {
      let text = "";
      const socket = net.connect(nginx.address, () => socket.end(bytes));
      socket.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      socket.on("close", () => resolve(text));
      socket.on("error", reject);
    });
  }
});

describe.skipIf(noNginx)("a replica that fails", () => {
  test("a POST that reached one is never sent to another", async () => {
    let received = 0;
    const servers = [1, 2, 3].map(() =>
      net
        .createServer((socket) => {
          socket.once("data", () => {
            received += 1;
            socket.destroy();
          });
          socket.on("error", () => {});
        })
        .listen(0, "127.0.0.1"),
    );
    for (const server of servers) onTestFinished(() => void server.close());
    await Promise.all(servers.map((server) => once(server, "listening")));
    const ports = servers.map((server) => (server.address() as AddressInfo).port);
    const nginx = await (await Nginx.start(project, ports)).listening();
    expect((await nginx.request({ headers, body: readOrder(1) })).status).toBe(502);
    expect(received).toBe(1);
  });

  test("one that takes no connection is passed over unseen", async () => {
    const port = await freePort();
    await startReplica(project, port);
    const nginx = await (await Nginx.start(project, [await freePort(), port, await freePort()])).listening();
    for (let id = 0; id < 6; id++) {
      expect((await nginx.request({ headers, body: readOrder(id) })).status).toBe(200);
    }
  });

  test("10,000 calls over 50 connections: each has one right result, although a replica is killed and comes back", {
    timeout: 180_000,
  }, async () => {
    const { nginx, replicas, ports } = await startReplicated(project);
    const agent = new http.Agent({ keepAlive: true, maxSockets: 50 });
    onTestFinished(() => agent.destroy());

    /** Sends a call as a client should: after no answer, 502 or 503 again, at most three times. */
    async function call(id: number): Promise<Answer> {
      for (let retries = 0; ; retries++) {
        const request = http.request({ ...nginx.address, method: "POST", path: "/mcp", headers, agent });
        request.end(readOrder(id));
        const answer = await readAnswer(request).catch((error: Error) => error);
        const failed = answer instanceof Error || answer.status === 502 || answer.status === 503;
        if (!failed) return answer;
        if (retries === 3) throw new Error(`call ${id} failed: ${JSON.stringify(answer)}`);
      }
    }

    const ids = Array.from({ length: 10_000 }, (_, id) => id);
    const wrong: unknown[] = [];
    let done = 0;
    let killed: Promise<void> | undefined;
    let back: ReturnType<typeof startReplica> | undefined;
    const clients = Array.from({ length: 50 }, async () => {
      for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
        const messages = messagesIn(await call(id));
        const [message] = messages;
        const order = message?.result?.structuredContent;
        if (messages.length !== 1 || message?.id !== id || order?.id !== "ORD-1001") {
          wrong.push({ id, messages });
        }
        done += 1;
        if (done === 3000) killed = replicas[0]?.kill();
        if (done === 5000) back = killed?.then(() => startReplica(project, ports[0] as number));
      }
    });
    await Promise.all(clients);
    expect(wrong).toEqual([]);
    expect(done).toBe(10_000);

    // nginx finds the replica again by itself.
    const served = (await back)?.logged({ message: "request", path: "/mcp", status: 200 });
    let found = false;
    void served?.then(() => {
      found = true;
    });
    for (let id = 20_000; !found; id++) await call(id);
    await served;
    // Both happened: calls were cut off or passed on, and none of it was seen above.
    await nginx.stop();
    expect(await nginx.output()).toMatch(/"status":"502"|"replicaStatus":"502, 200"/);
  });
});
