import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createProgressReporter, type ProgressUpdate } from "../../templates/progress/src/progress.ts";
import { projectWithTools, StdioServer, startServer } from "../support/stdio-server.ts";

/** What timers and pipes may take from the 200 ms between two notifications (milliseconds). */
const tolerance = 15;

interface Step {
  afterMs: number;
  progress: number;
  total?: number;
}

let project: string;
let server: StdioServer;
beforeAll(async () => {
  project = await projectWithTools("hostile-tools.ts");
  server = await new StdioServer(project).initialize();
  return () => server.kill();
});

/** Calls with a token; the updates as they came, each with its time, and whether the answer came last. */
async function updatesOf(progressToken: unknown, args: object) {
  const before = server.stdout.all.length;
  const answer = await server.call("reports", args, { progressToken });
  const own = server.messages().slice(before);
  const updates = own.flatMap((message, index) =>
    message.method === "notifications/progress"
      ? [{ ...message.params, at: server.stdout.times[before + index] as number }]
      : [],
  ) as (ProgressUpdate & { progressToken: unknown; at: number })[];
  return {
    updates,
    answer,
    answeredLast: own.at(-1)?.id === answer.id,
    values: updates.map((u) => u.progress),
  };
}

const steps = (count: number, afterMs: number, total?: number): Step[] =>
  Array.from({ length: count }, (_, i) => ({ afterMs, progress: i + 1, ...(total && { total }) }));

test("nobody is told who has not asked", async () => {
  const before = server.stdout.all.length;
  await server.call("reports", { steps: steps(3, 210) });
  expect(server.stdout.all.length - before).toBe(1);
});

test.each([0, "", 7, "a token"])("the token %j counts as asked, and comes back", async (token) => {
  const { updates, values, answeredLast } = await updatesOf(token, { steps: steps(1, 0) });
  expect(values).toEqual([1]);
  expect(updates[0]?.progressToken).toBe(token);
  expect(answeredLast).toBe(true);
});

test("many quick steps: never two within 200 ms, strictly rising, the last one before the result", async () => {
  const { updates, values, answeredLast } = await updatesOf(1, { steps: steps(60, 10, 60) });
  expect(answeredLast).toBe(true);
  expect(values.at(-1)).toBe(60);
  expect(values.length).toBeGreaterThan(2);
  expect(values).toEqual([...new Set(values)].sort((a, b) => a - b));
  const gaps = updates.slice(1).map(({ at }, index) => at - (updates[index]?.at ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(200 - tolerance);
});

test("the last one comes before a failure too", async () => {
  const { values, answer, answeredLast } = await updatesOf(1, { steps: steps(10, 1), fail: true });
  expect(answer.result.isError).toBe(true);
  expect(values.at(-1)).toBe(10);
  expect(answeredLast).toBe(true);
});

test("what does not rise is not sent", async () => {
  const falling = [3, 2, 3, 1].map((progress) => ({ afterMs: 220, progress }));
  expect((await updatesOf(1, { steps: falling })).values).toEqual([3]);
});

test("none comes after the result", async () => {
  const { values } = await updatesOf(1, { steps: steps(1, 0), late: true });
  expect(values).toEqual([1]);
  const before = server.stdout.all.length;
  // The late report is due within this call.
  await server.call("waits", { ms: 600 });
  expect(server.stdout.all.length - before).toBe(1);
});

test("a client that has gone does not make it crash", async () => {
  const own = await startServer(project).initialize();
  const params = { name: "reports", arguments: { steps: steps(100, 50) }, _meta: { progressToken: 1 } };
  own.send({ id: 1, method: "tools/call", params });
  await own.stdout.find((line) => (line.includes("notifications/progress") ? line : undefined), "progress");
  own.process.stdin?.end();
  expect(await own.ended).toMatchObject({ code: 0 });
  expect(own.stderr.all.join()).not.toContain("uncaught");
});

describe("the reporter by itself", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["performance"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function reporter() {
    const sent: ProgressUpdate[] = [];
    const { report, finish } = createProgressReporter(async (update) => {
      sent.push(update);
    });
    return { sent, values: () => sent.map(({ progress }) => progress), report, finish };
  }

  test("steps under 5 % are skipped until 1 s has passed", () => {
    const { report, values } = reporter();
    report({ progress: 1, total: 100 });
    vi.advanceTimersByTime(250);
    report({ progress: 5.9, total: 100 });
    expect(values()).toEqual([1]);
    report({ progress: 6, total: 100 });
    expect(values()).toEqual([1, 6]);
    vi.advanceTimersByTime(999);
    report({ progress: 7, total: 100 });
    expect(values()).toEqual([1, 6]);
    vi.advanceTimersByTime(1);
    report({ progress: 8, total: 100 });
    expect(values()).toEqual([1, 6, 8]);
  });

  test("without a total, only time counts", () => {
    const { report, values } = reporter();
    report({ progress: 1 });
    vi.advanceTimersByTime(199);
    report({ progress: 2 });
    expect(values()).toEqual([1]);
    vi.advanceTimersByTime(1);
    report({ progress: 3 });
    expect(values()).toEqual([1, 3]);
  });

  test("it starts anywhere, and refuses what is no number", () => {
    const { report, values } = reporter();
    report({ progress: Number.NaN });
    report({ progress: Number.POSITIVE_INFINITY });
    report({ progress: -5 });
    expect(values()).toEqual([-5]);
  });

  test("finish sends what was held back, once, and nothing is sent after", async () => {
    const { report, finish, values } = reporter();
    report({ progress: 1, total: 100 });
    report({ progress: 2, total: 100 });
    vi.advanceTimersByTime(200);
    await finish(new AbortController().signal);
    report({ progress: 3, total: 100 });
    expect(values()).toEqual([1, 2]);
  });

  test("finish sends nothing when the call was cancelled", async () => {
    const { report, finish, values } = reporter();
    report({ progress: 1 });
    report({ progress: 2 });
    const cancel = new AbortController();
    const finished = finish(cancel.signal);
    cancel.abort();
    await finished;
    expect(values()).toEqual([1]);
  });

  test("a client that cannot be reached is no concern of the tool", async () => {
    const { report, finish } = createProgressReporter(() => Promise.reject(new Error("gone")));
    report({ progress: 1 });
    report({ progress: 2 });
    vi.advanceTimersByTime(200);
    await finish(new AbortController().signal);
  });
});
