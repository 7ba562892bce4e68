import { Client as McpClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { generatedServer } from "./generated.ts";
import { dropped, halfSent, large, strangers, unread } from "./soak/abuse.ts";
import { bearer } from "./soak/findings.ts";
import { abandoned, Bystander, calls, full } from "./soak/load.ts";
import { malformed } from "./soak/malformed.ts";
import { type Figures, type Settings, Target } from "./soak/target.ts";

/**
 * Attacks a generated, built server from outside, and looks whether anything breaks, leaks or stays behind. Prints a
 * table; ends with 1 when a bound is broken.
 */

const mb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
const settings = { isStateless: false, maxSessions: 100, idleMs: 2000, requestTimeoutMs: 3000 } as const;

/** The rows of the table: what was measured in each run, by title. */
const table = new Map<string, string[]>();
const problems: string[] = [];
const runs: string[] = [];

function report(title: string, figure: string | number): void {
  const cells = table.get(title) ?? [];
  cells[runs.length - 1] = String(figure);
  table.set(title, cells);
}

/** Everything that happens to a server in the runs with bounds that are reached. */
async function attack(target: Target, scale: number): Promise<void> {
  const { findings } = target;
  const share = (count: number) => Math.ceil(count * scale);
  const bystander = new Bystander(target);

  const clients = share(2000);
  const streams = await abandoned(target, clients, (index) => index % 10 === 0);
  report("clients that never say goodbye", clients);
  if (!target.settings.isStateless && scale === 1) {
    const { sessions } = await target.measure();
    findings.expect(sessions <= target.settings.maxSessions, `${sessions} sessions are open`);
    report("sessions open then", sessions);
  }
  const startedAt = performance.now();
  const right = await calls(target, share(200) * 50, 50);
  const perSecond = right / ((performance.now() - startedAt) / 1000);
  report("calls over 50 connections, answered rightly", right);
  report("calls a second", perSecond.toFixed(0));
  report("malformed requests, refused rightly", await malformed(target, share(5000), 20));
  report("wrong tokens, refused", await strangers(target, share(2000)));

  const slowest = await halfSent(target, share(210));
  report("half-sent requests, cut off", share(210));
  report("the last one after", `${(slowest / 1000).toFixed(1)} s`);

  const before = await target.measure();
  report("20 MB bodies, refused", await large(target, share(60)));
  const peak = (await target.measure()).peakBytes - before.peakBytes;
  findings.expect(peak < 50e6, `20 MB bodies raised the memory peak by ${mb(peak)}`);
  report("memory peak raised by them", mb(peak));

  const begun = await dropped(target, share(600));
  report("calls whose client went away", share(600));

  const { taken, peakBytes } = await unread(target, share(10));
  findings.expect(peakBytes < 100e6, `unread answers raised the memory peak by ${mb(peakBytes)}`);
  report("200 MB of answers nobody reads: taken on", mb(taken));
  report("memory peak raised by that", mb(peakBytes));

  await bystander.stop();
  report("a client meanwhile: calls, slowest", `${bystander.calls}, ${bystander.slowestMs.toFixed(0)} ms`);
  if (!target.settings.isStateless) {
    report("all sessions busy: told to come back (503)", await full(target, share(20)));
  }
  for (const stream of streams) stream.destroy();
  const cancelled = target.messages.get("tool call cancelled") ?? 0;
  findings.expect(cancelled >= begun, `${begun} clients went away, ${cancelled} calls were cancelled`);
}

/** 2,000 sessions that are open at once, half of them with a stream. */
async function crowd(target: Target, scale: number): Promise<void> {
  const count = Math.ceil(2000 * scale);
  const streams = await abandoned(target, count, (index) => index % 2 === 0);
  report("clients that never say goodbye", count);
  const { sessions, heapBytes } = await target.measure();
  target.findings.expect(sessions === count, `${sessions} of ${count} sessions are open at once`);
  report("sessions open then", sessions);
  report("heap then", mb(heapBytes));
  for (const stream of streams) stream.destroy();
}

/** Whether a client that knows nothing of all this is served. */
async function expectService(target: Target): Promise<void> {
  const client = new McpClient({ name: "afterwards", version: "1.0.0" });
  const transport = new StreamableHTTPClientTransport(target.url, { requestInit: { headers: bearer } });
  await client.connect(transport as Transport);
  const { structuredContent } = await client.callTool({
    name: "query_order",
    arguments: { orderId: "ORD-1001" },
  });
  target.findings.expect(structuredContent !== undefined, "afterwards a client is not served");
  await transport.terminateSession();
  await client.close();
  if (!target.settings.isStateless) target.sessionsOpened++;
}

function judge(target: Target, start: Figures, end: Figures): void {
  const { findings, messages, sessionsOpened } = target;
  const grown = end.heapBytes - start.heapBytes;
  findings.expect(grown < 20e6, `the heap grew by ${mb(grown)}`);
  findings.expect(end.sockets === 0, `${end.sockets} sockets are open`);
  findings.expect(end.sessions === 0, `${end.sessions} sessions are left`);
  findings.expect(end.servers === 0, `${end.servers} servers are left`);
  findings.expect(end.pollution === 0, "Object.prototype has been written to");
  const closed = messages.get("session closed") ?? 0;
  findings.expect(closed === sessionsOpened, `${sessionsOpened} sessions were opened, ${closed} closed`);
  report("heap before and afterwards", `${mb(start.heapBytes)}, ${mb(end.heapBytes)}`);
  report("sockets, sessions, servers afterwards", `${end.sockets}, ${end.sessions}, ${end.servers}`);
  report("5xx but for that 503", findings.otherServerErrors);
  report("answers, lines of the log", `${findings.answers}, ${target.logLines}`);
  report("paths, stacks and secrets in them", findings.leaks);
}

async function run(
  title: string,
  project: string,
  with_: Settings,
  scenario: (target: Target, scale: number) => Promise<void>,
): Promise<void> {
  runs.push(title);
  const startedAt = performance.now();
  const target = await new Target(project, with_).listening();
  // What the first requests bring (compiled code, pools of parsers) is paid once, and is no leak.
  await scenario(target, 0.05);
  const start = await target.settled();
  await scenario(target, 1);
  await expectService(target);
  const end = await target.settled();
  report("end on SIGTERM", `exit ${await target.stop()}`);
  judge(target, start, end);
  report("duration", `${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
  problems.push(...target.findings.problems.map((problem) => `${title}: ${problem}`));
}

const project = generatedServer(["--transport", "http", "--auth", "token", "--samples", "--progress"]);
await run("with sessions, at most 100", project, settings, attack);
await run("2,000 sessions at once", project, { ...settings, maxSessions: 2500, idleMs: 20_000 }, crowd);
await run("stateless", project, { ...settings, isStateless: true }, attack);

console.log(`| what | ${runs.join(" | ")} |\n|---|${runs.map(() => "---|").join("")}`);
for (const [title, cells] of table) {
  console.log(`| ${title} | ${runs.map((_, index) => cells[index] ?? "–").join(" | ")} |`);
}
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);
