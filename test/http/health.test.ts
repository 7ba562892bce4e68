import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { builtProject } from "../support/generated.ts";
import { bearer, type HttpServer, startHttp } from "../support/http-server.ts";
import { projectWithTools } from "../support/stdio-server.ts";

let open: string;
let guarded: string;
beforeAll(async () => {
  open = await projectWithTools("health-tools.ts", { transport: "http", auth: "none" });
  guarded = await projectWithTools("health-tools.ts", { transport: "http", auth: "token" });
});

describe("/health", () => {
  const states = [
    ["", 200, "ok", { extra: "ok", vital: "ok" }],
    ["extra fails", 200, "degraded", { extra: "failing", vital: "ok" }],
    ["extra hangs", 200, "degraded", { extra: "failing", vital: "ok" }],
    ["vital fails", 503, "unavailable", { extra: "ok", vital: "failing" }],
    ["vital hangs", 503, "unavailable", { extra: "ok", vital: "failing" }],
  ] as const;

  test.each(states)("when %j: %i %s", async (HEALTH, status, word, checks) => {
    const server = await startHttp(open, { HEALTH });
    const answer = await server.request({ method: "GET", path: "/health" });
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.text)).toEqual({
      status: word,
      uptimeSeconds: expect.any(Number),
      memoryBytes: expect.any(Number),
      checks,
    });
    const head = await server.request({ method: "HEAD", path: "/health" });
    expect([head.status, head.text]).toEqual([status, ""]);
    expect(answer.text).not.toMatch(/hunter2/);
    if (HEALTH.endsWith("fails")) {
      expect(await server.logged({ message: "health check failed" })).toMatchObject({
        check: HEALTH.split(" ")[0],
      });
    }
    expect(server.stdout.all.join("\n")).not.toMatch(/hunter2/);
  });

  test("whoever asks at the same time shares one check of each dependency", async () => {
    const server = await startHttp(open, { HEALTH: "extra hangs" });
    const ask = () => server.request({ method: "GET", path: "/health" });
    const answers = await Promise.all(Array.from({ length: 20 }, ask));
    for (const { text } of answers) expect(JSON.parse(text).status).toBe("degraded");
    const failures = server.stdout.all.filter((line) => line.includes("health check failed"));
    expect(failures).toHaveLength(1);
  });

  test("only a caller with a token learns more than one word", async () => {
    const server = await startHttp(guarded, { HEALTH: "extra fails" });
    const get = { method: "GET", path: "/health" } as const;
    expect(JSON.parse((await server.request(get)).text)).toEqual({ status: "degraded" });
    const wrong = { authorization: "Bearer wrong-0123456789abcdef" };
    expect(JSON.parse((await server.request({ ...get, headers: wrong })).text)).toEqual({
      status: "degraded",
    });
    const known = await server.request({ ...get, headers: bearer("bob") });
    expect(JSON.parse(known.text)).toMatchObject({ checks: { extra: "failing" } });
  });
});

test("the sample upstream is checked: well, ill and gone", async () => {
  let status = 200;
  const asked: string[] = [];
  const upstream = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.writeHead(status).end("hunter2 is the password");
  }).listen(0, "127.0.0.1");
  await once(upstream, "listening");
  onTestFinished(() => void upstream.close());
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/orders-base`;
  const samples = await builtProject({ transport: "http", auth: "none", samples: true, progress: true });
  const inMemory = await startHttp(samples);
  const overHttp = await startHttp(samples, { ORDERS_URL: url });
  const ask = async (server: HttpServer) => {
    const answer = await server.request({ method: "GET", path: "/health" });
    expect(answer.text).not.toMatch(/hunter2|orders-base/);
    return [answer.status, JSON.parse(answer.text).status, JSON.parse(answer.text).checks];
  };
  expect(await ask(inMemory)).toEqual([200, "ok", { orders: "ok" }]);
  expect(await ask(overHttp)).toEqual([200, "ok", { orders: "ok" }]);
  expect(asked).toEqual(["/orders-base/health"]);
  status = 500;
  expect(await ask(overHttp)).toEqual([200, "degraded", { orders: "failing" }]);
  upstream.close();
  upstream.closeAllConnections();
  expect(await ask(overHttp)).toEqual([200, "degraded", { orders: "failing" }]);
});

test("/livez answers GET and HEAD whatever the dependencies do", async () => {
  const server = await startHttp(open, { HEALTH: "vital fails" });
  for (const method of ["GET", "HEAD"]) {
    expect((await server.request({ method, path: "/livez" })).status).toBe(200);
  }
});
