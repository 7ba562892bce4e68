import { once } from "node:events";
import type { ClientRequest } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, Client, inParallel } from "./client.ts";
import type { Target } from "./target.ts";

/**
 * Clients that come, ask something and never say goodbye: no DELETE, and their connections stay open.
 *
 * @param streamsOf which of them also open the stream of their session, and never read it.
 */
export async function abandoned(
  target: Target,
  count: number,
  streamsOf: (index: number) => boolean,
): Promise<{ clients: Client[]; streams: ClientRequest[] }> {
  const clients: Client[] = [];
  const streams: ClientRequest[] = [];
  await inParallel(count, 50, async (index) => {
    const client = await new Client(target).initialize();
    clients.push(client);
    await expectTools(client);
    if (target.settings.isStateless || !streamsOf(index)) return;
    const stream = client.open({ method: "GET" });
    streams.push(stream);
    const [response] = await once(stream, "response");
    target.findings.expect(response.statusCode === 200, `GET answered ${response.statusCode}`);
  });
  return { clients, streams };
}

/** Asks for the tools: there are the three samples. */
export async function expectTools(client: Client): Promise<void> {
  const { messages, text } = await client.rpc("tools/list", {});
  const isRight = messages[0]?.result?.tools?.length === 3;
  client.target.findings.expect(isRight, "tools/list does not list three tools", text);
}

const orders = { "ORD-1001": 4200, "ORD-1002": 1999 } as const;

/** Calls over some connections, each answer compared with what was asked. Returns how many were right. */
export async function calls(target: Target, count: number, connections: number): Promise<number> {
  let right = 0;
  const each = count / connections;
  await inParallel(connections, connections, async () => {
    const client = await new Client(target).initialize();
    for (let n = 0; n < each; n++) {
      if (await isRight(client, n)) right++;
      else target.findings.problem("a wrong answer to a call, or none", `call ${n} of its connection`);
    }
  });
  return right;
}

/** One call in fifty takes its time and tells how far it is. */
async function isRight(client: Client, n: number): Promise<boolean> {
  if (n % 50 === 49) {
    const docIds = ["doc-1", "doc-2", "doc-3"];
    const { messages } = await client.call("batch_translate", { docIds }, { progressToken: 0 });
    const steps = messages.flatMap(({ params }) => params?.progress ?? []);
    const isRising = steps.every((step, index) => index === 0 || step > (steps[index - 1] as number));
    const last = messages.at(-1);
    const done = last?.result?.structuredContent as { translated?: unknown[] } | undefined;
    return last?.id === client.lastId && isRising && steps.at(-1) === 3 && done?.translated?.length === 3;
  }
  if (n % 2 === 0) {
    const failure = errorCode(await client.call("query_order", { orderId: `ORD-${2000 + n}` }));
    return failure === "ORDER_NOT_FOUND";
  }
  const orderId = n % 4 === 1 ? "ORD-1001" : "ORD-1002";
  const { messages } = await client.call("query_order", { orderId });
  const order = messages[0]?.result?.structuredContent as { id?: string; totalCents?: number } | undefined;
  return messages[0]?.id === client.lastId && order?.id === orderId && order.totalCents === orders[orderId];
}

function errorCode({ messages }: Answer): string | undefined {
  return messages.at(-1)?.result?._meta?.["create-mcp-server/error"]?.code;
}

/** A client that behaves, calls all the time, and must notice nothing but the noise. */
export class Bystander {
  calls = 0;
  readonly #done: Promise<void>;
  #isStopped = false;

  constructor(target: Target) {
    this.#done = this.#run(target);
  }

  async #run(target: Target): Promise<void> {
    const client = await new Client(target).initialize();
    while (!this.#isStopped) {
      const isFine = await isRight(client, 1);
      target.findings.expect(isFine, "the bystander got a wrong answer, or none");
      this.calls++;
      await sleep(20);
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#done;
  }
}

/** With a call running in every session there is no room: who comes then is told to come back. */
export async function full(target: Target, refusals: number): Promise<number> {
  const { maxSessions } = target.settings;
  const docIds = Array(100).fill("doc-1");
  const running: ClientRequest[] = [];
  await inParallel(maxSessions, 25, async () => {
    const client = await new Client(target).initialize();
    const params = { name: "batch_translate", arguments: { docIds }, _meta: { progressToken: "full" } };
    const request = client.open({ body: client.message("tools/call", params) });
    running.push(request);
    const [response] = await once(request, "response");
    await once(response, "data");
  });
  let refused = 0;
  await inParallel(refusals, 5, async () => {
    const clientInfo = { name: "soak", version: "1" };
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    const { status, headers } = await new Client(target).rpc("initialize", params);
    if (status === 503 && headers["retry-after"] !== undefined) refused++;
  });
  target.findings.expect(refused === refusals, `only ${refused} of ${refusals} were told to come back`);
  target.expectedRefusals += refused;
  for (const request of running) request.destroy();
  return refused;
}
