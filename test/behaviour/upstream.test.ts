import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { builtProject } from "../support/generated.ts";
import { type Message, type StdioServer, startServer } from "../support/stdio-server.ts";

type Answer = (request: IncomingMessage, response: ServerResponse, attempt: number) => void;

let project: string;
beforeAll(async () => {
  project = await builtProject({ samples: true, progress: true });
});

const order = { id: "ORD-1001", status: "open", totalCents: 5 };
const json = (response: ServerResponse, status: number, body: unknown, headers = {}) =>
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));

/** An order service on a port of its own, and a server that asks it. */
async function withUpstream(answer: Answer, path = "") {
  const requests: IncomingMessage[] = [];
  const times: number[] = [];
  const upstream = createServer((request, response) => {
    requests.push(request);
    times.push(performance.now());
    answer(request, response, requests.length);
  });
  upstream.listen(0, "127.0.0.1");
  await once(upstream, "listening");
  onTestFinished(() => {
    upstream.closeAllConnections();
    upstream.close();
  });
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}${path}`;
  const server = await startServer(project, { env: { ORDERS_URL: url } }).initialize();
  return { server, requests, times, upstream };
}

const query = (server: StdioServer, _meta?: Record<string, unknown>) =>
  server.call("query_order", { orderId: "ORD-1001" }, _meta);

function expectUnavailable({ result }: Message): void {
  expect(result.isError).toBe(true);
  expect(result._meta["create-mcp-server/error"]).toMatchObject({
    code: "DEPENDENCY_UNAVAILABLE",
    retryable: true,
  });
  expect(result.content[0].text).toMatch(/^DEPENDENCY_UNAVAILABLE: .*Try/);
}

/** Nothing of the upstream goes out, and the log has its story. */
async function expectInternalError(server: StdioServer, answer: Message, story: string): Promise<void> {
  expect(answer.error).toMatchObject({ code: -32603, message: expect.stringMatching(/^Internal error\./) });
  expect(JSON.stringify(answer)).not.toContain(story);
  const line = await server.logged({ requestId: answer.id, message: "tool call broke" });
  expect(line.traceId).toBe(answer.error?.data?.traceId);
  expect(JSON.stringify(line.error)).toContain(story);
}

test("an order is found, and the trace goes with the request", async () => {
  const { server, requests } = await withUpstream((_, response) => json(response, 200, order));
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const { result } = await query(server, { traceparent: `00-${traceId}-b7ad6b7169203331-01` });
  expect(result.structuredContent).toEqual(order);
  expect(requests).toHaveLength(1);
  expect(requests[0]).toMatchObject({ method: "GET", url: "/orders/ORD-1001" });
  expect(requests[0]?.headers.traceparent).toBe(result._meta.traceparent);
  expect(requests[0]?.headers.traceparent).toContain(traceId);
});

test("the URL may have a path, and what the schema lacks is left out", async () => {
  const { server, requests } = await withUpstream(
    (_, response) => json(response, 200, { ...order, secret: 1 }),
    "/api/v1",
  );
  expect((await query(server)).result.structuredContent).toEqual(order);
  expect(requests[0]?.url).toBe("/api/v1/orders/ORD-1001");
});

test("an answer without a body is no order", async () => {
  const { server } = await withUpstream((_, response) => response.writeHead(204).end());
  await expectInternalError(server, await query(server), "the order service sent no valid order");
});

test("404 is no outage: there is no such order", async () => {
  const { server, requests } = await withUpstream((_, response) => json(response, 404, {}));
  const { result } = await query(server);
  expect(result._meta["create-mcp-server/error"]).toMatchObject({
    code: "ORDER_NOT_FOUND",
    retryable: false,
  });
  expect(requests).toHaveLength(1);
});

describe("an outage", () => {
  test.each([500, 503, 429, 408, 520])("%i is tried again, until it is over", async (status) => {
    const { server, requests } = await withUpstream((_, response, attempt) =>
      attempt <= 3 ? json(response, status, {}, { "retry-after": "0" }) : json(response, 200, order),
    );
    expect((await query(server)).result.structuredContent).toEqual(order);
    expect(requests).toHaveLength(4);
  });

  test("that lasts is tried again three times; the log has what the upstream said", async () => {
    const { server, requests, times } = await withUpstream((_, response) =>
      json(response, 503, { reason: "the disk is full", token: "hunter2" }),
    );
    const answer = await query(server);
    expectUnavailable(answer);
    expect(requests).toHaveLength(4);
    expect(JSON.stringify(answer)).not.toContain("disk");
    const gaps = times.slice(1).map((time, index) => time - (times[index] as number));
    expect(gaps).toEqual([...gaps].sort((a, b) => a - b));
    const line = await server.logged({ requestId: answer.id, message: "tool call failed" });
    expect(line).toMatchObject({ arguments: { orderId: "ORD-1001" }, error: { details: { status: 503 } } });
    expect(JSON.stringify(line)).toContain("the disk is full");
    expect(JSON.stringify(line)).not.toContain("hunter2");
  });

  test.each([500, 429])(
    "%i with Retry-After is tried again after that time, and not before",
    async (status) => {
      const { server, times } = await withUpstream((_, response, attempt) =>
        attempt === 1 ? json(response, status, {}, { "retry-after": "1" }) : json(response, 200, order),
      );
      expect((await query(server)).result.structuredContent).toEqual(order);
      expect((times[1] as number) - (times[0] as number)).toBeGreaterThanOrEqual(990);
    },
  );

  test("that asks for more patience than a call has is given up at once", async () => {
    const { server, requests } = await withUpstream((_, response) =>
      json(response, 503, { reason: "closed until Monday" }, { "retry-after": "3600" }),
    );
    const answer = await query(server);
    expectUnavailable(answer);
    expect(requests).toHaveLength(1);
    const line = await server.logged({ requestId: answer.id, message: "tool call failed" });
    expect(JSON.stringify(line)).toContain("closed until Monday");
  });

  test("of the network is tried again, until it is over", async () => {
    const { server, requests } = await withUpstream((request, response, attempt) =>
      attempt <= 2 ? request.socket.destroy() : json(response, 200, order),
    );
    expect((await query(server)).result.structuredContent).toEqual(order);
    expect(requests).toHaveLength(3);
  });

  test("where nobody listens", async () => {
    const { server, upstream } = await withUpstream(() => {});
    upstream.close();
    await once(upstream, "close");
    const answer = await query(server);
    expectUnavailable(answer);
    const line = await server.logged({ requestId: answer.id, message: "tool call failed" });
    expect(JSON.stringify(line)).toContain("ECONNREFUSED");
  });

  test.each([
    ["is over", 2],
    ["has lasted for four attempts", 4],
  ])("in the middle of an answer is tried again, until it %s", async (_, cut) => {
    const { server, requests } = await withUpstream((request, response, attempt) => {
      if (attempt > cut) return void json(response, 200, order);
      response.writeHead(200, { "content-length": "1000" });
      response.write('{"id":', () => request.socket.destroy());
    });
    const answer = await query(server);
    if (cut < 4) expect(answer.result.structuredContent).toEqual(order);
    else expectUnavailable(answer);
    expect(requests).toHaveLength(Math.min(cut + 1, 4));
  });

  test("is not waited out once the call is cancelled", async () => {
    const { server, requests } = await withUpstream((_, response) =>
      json(response, 503, {}, { "retry-after": "2" }),
    );
    server.send({
      id: 1,
      method: "tools/call",
      params: { name: "query_order", arguments: { orderId: "ORD-1001" } },
    });
    await expect.poll(() => requests.length).toBe(1);
    server.send({ method: "notifications/cancelled", params: { requestId: 1 } });
    const { durationMs } = await server.logged({ message: "tool call cancelled", requestId: 1 });
    expect(durationMs).toBeLessThan(1500);
    expect(requests).toHaveLength(1);
    expect(server.messages().filter(({ id }) => id === 1)).toEqual([]);
  });
});

test("an answer that takes too long is given up and asked for again", async () => {
  const { server, requests } = await withUpstream((_, response, attempt) => {
    // The first request is never answered.
    if (attempt > 1) json(response, 200, order);
  });
  expect((await query(server)).result.structuredContent).toEqual(order);
  expect(requests).toHaveLength(2);
});

test("cancelling closes the request that is under way", async () => {
  const { server, requests } = await withUpstream(() => {});
  server.send({
    id: 1,
    method: "tools/call",
    params: { name: "query_order", arguments: { orderId: "ORD-1001" } },
  });
  await expect.poll(() => requests.length).toBe(1);
  const closed = once(requests[0]?.socket as NonNullable<IncomingMessage["socket"]>, "close");
  server.send({ method: "notifications/cancelled", params: { requestId: 1 } });
  await closed;
  await server.logged({ message: "tool call cancelled", requestId: 1 });
});

describe("an answer that is wrong", () => {
  test("broken JSON", async () => {
    const { server, requests } = await withUpstream(
      (_, response) => void response.end("<html>the proxy is ill"),
    );
    await expectInternalError(server, await query(server), "the proxy is ill");
    expect(requests).toHaveLength(1);
  });

  test("a body that breaks the schema", async () => {
    const { server } = await withUpstream((_, response) =>
      json(response, 200, { ...order, status: "lost at sea" }),
    );
    await expectInternalError(server, await query(server), "lost at sea");
  });

  test("a status that nobody expects", async () => {
    const { server, requests } = await withUpstream((_, response) =>
      json(response, 401, { reason: "who are you" }),
    );
    await expectInternalError(server, await query(server), "401");
    expect(requests).toHaveLength(1);
  });
});
