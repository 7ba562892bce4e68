import { dropped, halfSent, large, strangers, unread } from "./abuse.ts";
import { Client, inParallel } from "./client.ts";
import { abandoned, Bystander, calls, expectTools, full } from "./load.ts";
import { malformed } from "./malformed.ts";
import { mb, type Report } from "./report.ts";
import type { Target } from "./target.ts";

/**
 * What happens to a server in one run.
 *
 * @param scale 1, or less for a warm-up.
 */
export type Scenario = (target: Target, scale: number, report: Report) => Promise<void>;

/** Everything at a server whose bounds are narrow, with a client beside it that must be served all the time. */
export const attack: Scenario = async (target, scale, report) => {
  const { findings, settings } = target;
  const share = (count: number) => Math.ceil(count * scale);
  const bystander = new Bystander(target);

  const { streams } = await abandoned(target, share(2000), (index) => index % 10 === 0);
  report.row("clients that never say goodbye", share(2000));
  const { sessions } = await target.measure();
  const atMost = settings.isStateless ? 0 : settings.maxSessions;
  findings.expect(sessions <= atMost, `${sessions} sessions are open`);
  report.row("sessions open then", sessions);

  const startedAt = performance.now();
  const right = await calls(target, share(200) * 50, 50);
  const perSecond = right / ((performance.now() - startedAt) / 1000);
  report.row("calls over 50 connections, answered rightly", right);
  report.row("calls a second", perSecond.toFixed(0));

  await target.measure();
  report.row("malformed requests, refused rightly", await malformed(target, share(5000), 20));
  report.row("wrong tokens, refused", await strangers(target, share(2000)));
  const slowestMs = await halfSent(target, share(210));
  report.row("half-sent requests, cut off", share(210));
  report.row("half-sent: the last one after", `${(slowestMs / 1000).toFixed(1)} s`);
  const { rssBytes, blockedMs } = await target.measure();
  report.row("longest block of the event loop by these", `${blockedMs.toFixed(0)} ms`);

  report.row("20 MB bodies, refused", await large(target, share(60)));
  const raisedBy = Math.max(0, (await target.measure()).peakBytes - rssBytes);
  findings.expect(raisedBy < 60e6, "20 MB bodies raised the memory peak", mb(raisedBy));
  report.row("20 MB bodies: memory raised by", mb(raisedBy));

  const begun = await dropped(target, share(600));
  report.row("calls whose client went away", share(600));
  const { taken, held } = await unread(target, 10);
  findings.expect(held < 20e6, "requests whose answers nobody reads pile up", mb(held));
  report.row("10 clients that read no answers: requests taken", mb(taken));
  report.row("10 clients that read no answers: memory held", mb(held));

  await bystander.stop();
  report.row("calls of a client beside all that, answered rightly", bystander.calls);
  if (!settings.isStateless) {
    report.row("all sessions busy: 503 with Retry-After", await full(target, share(20)));
  }
  // Only now do these clients go: without a word, as a machine does that is switched off.
  for (const stream of streams) stream.destroy();
  const cancelled = target.messages.get("tool call cancelled") ?? 0;
  findings.expect(cancelled >= begun, `${begun} clients went away, ${cancelled} calls were cancelled`);
};

/** Sessions that are all open at once, each with a stream: none of them counts as idle. */
export const crowd: Scenario = async (target, scale, report) => {
  const count = Math.ceil(2000 * scale);
  const { clients, streams } = await abandoned(target, count, () => true);
  report.row("clients that never say goodbye", count);
  const { sessions, heapBytes } = await target.measure();
  target.findings.expect(sessions === count, `${sessions} of ${count} sessions are open at once`);
  report.row("sessions open then", sessions);
  report.row("heap with all of them open", mb(heapBytes));
  await inParallel(count, 50, async (index) => {
    const { session } = clients[index] as Client;
    await expectTools(Object.assign(new Client(target), { session }));
  });
  report.row("each asked once more, over a new connection", count);
  for (const stream of streams) stream.destroy();
};
