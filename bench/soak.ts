import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { generatedServer } from "./generated.ts";
import { bearer } from "./soak/findings.ts";
import { mb, Report } from "./soak/report.ts";
import { attack, crowd, type Scenario } from "./soak/scenarios.ts";
import { type Figures, type Settings, Target } from "./soak/target.ts";

/**
 * Attacks a generated, built server from outside, and looks whether anything breaks, leaks or stays behind. Prints a
 * table; ends with 1 when a bound is broken.
 */

const project = generatedServer(["--transport", "http", "--auth", "token", "--samples", "--progress"]);
const report = new Report();
const problems: string[] = [];

async function run(title: string, settings: Settings, scenario: Scenario): Promise<void> {
  report.begin(title);
  const target = await new Target(project, settings).listening();
  try {
    await soak(target, scenario);
  } catch (error) {
    // A server that is gone, most of all.
    target.findings.problem("the run broke off", String(error));
  }
  problems.push(...target.findings.problems.map((problem) => `${title}: ${problem}`));
}

async function soak(target: Target, scenario: Scenario): Promise<void> {
  // The first of everything brings compiled code, caches and pools. They are paid for once, and are no leak.
  report.isMuted = true;
  await scenario(target, 0.05, report);
  const start = await target.settled();
  report.isMuted = false;
  await scenario(target, 1, report);
  await expectService(target);
  const end = await target.settled();
  report.row("exit code on SIGTERM", String(await target.stop()));
  judge(target, start, end);
  report.row("seconds", report.seconds);
}

/** Whether a client that knows nothing of all this is served. */
async function expectService(target: Target): Promise<void> {
  const client = new Client({ name: "afterwards", version: "1.0.0" });
  const transport = new StreamableHTTPClientTransport(target.url, { requestInit: { headers: bearer } });
  await client.connect(transport as Transport);
  const order = await client.callTool({ name: "query_order", arguments: { orderId: "ORD-1001" } });
  target.findings.expect(order.structuredContent !== undefined, "afterwards a client is not served");
  if (transport.sessionId !== undefined) target.sessionsOpened++;
  // This one says goodbye.
  await transport.terminateSession();
  await client.close();
}

function judge(target: Target, start: Figures, end: Figures): void {
  const { findings, messages, sessionsOpened, expectedRefusals } = target;
  const grown = end.heapBytes - start.heapBytes;
  findings.expect(grown < 20e6, `the heap grew by ${mb(grown)}`);
  findings.expect(end.sockets === 0, `${end.sockets} sockets are open`);
  findings.expect(end.sessions === 0, `${end.sessions} sessions are left`);
  findings.expect(end.servers === 0, `${end.servers} servers are left`);
  findings.expect(end.pollution === 0, "Object.prototype has been written to");
  const closed = messages.get("session closed") ?? 0;
  findings.expect(closed === sessionsOpened, `${sessionsOpened} sessions were opened, ${closed} closed`);
  const refusals = findings.tooManySessions;
  findings.expect(refusals === expectedRefusals, `${refusals} times 503 instead of ${expectedRefusals}`);
  report.row("heap at the start", mb(start.heapBytes));
  report.row("heap afterwards", mb(end.heapBytes));
  report.row("sockets, sessions, servers afterwards", `${end.sockets}, ${end.sessions}, ${end.servers}`);
  report.row("other 5xx", findings.otherServerErrors);
  report.row("answers read", findings.answers);
  report.row("lines of the log read", target.logLines);
  report.row("paths, stacks, secrets in them", findings.leaks);
}

// It takes less than five minutes; what hangs is broken.
setTimeout(() => {
  console.error(...problems, "the soak hangs");
  process.exit(1);
}, 15 * 60_000).unref();

// As long as Node keeps an idle connection: that has to be waited for in any case.
const idleMs = 5000;
const narrow: Settings = { isStateless: false, maxSessions: 100, idleMs, requestTimeoutMs: 3000 };
await run("at most 100 sessions", narrow, attack);
await run("2,000 sessions at once", { ...narrow, maxSessions: 2500 }, crowd);
await run("stateless", { ...narrow, isStateless: true }, attack);

console.log(String(report));
for (const problem of problems) console.error(problem);
console.error(problems.length === 0 ? "Every bound holds." : `${problems.length} bounds are broken.`);
process.exit(problems.length > 0 ? 1 : 0);
