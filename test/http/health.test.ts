import { beforeAll, describe, expect, test } from "vitest";
import { bearer, startHttp } from "../support/http-server.ts";
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

test("/livez answers GET and HEAD whatever the dependencies do", async () => {
  const server = await startHttp(open, { HEALTH: "vital fails" });
  for (const method of ["GET", "HEAD"]) {
    expect((await server.request({ method, path: "/livez" })).status).toBe(200);
  }
});
