import { once } from "node:events";
import type { IncomingMessage, OutgoingHttpHeaders } from "node:http";
import type net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { Client, inParallel, rpcHeaders } from "./client.ts";
import { bearer, tokens } from "./findings.ts";
import { closing, type Target } from "./target.ts";

const list = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
const head = (headers: OutgoingHttpHeaders) =>
  `POST /mcp HTTP/1.1\r\n${Object.entries({ host: "localhost", ...rpcHeaders, ...bearer, ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}`;

/** What is sent at once, and what then follows byte by byte, for ever. */
const halves: readonly (readonly [now: string, drip: string])[] = [
  ["", ""],
  ["POST /m", ""],
  [head({}), ""],
  [head({}), "x-slow: very"],
  [`${head({ "content-length": 1000 })}\r\n${list}`, ""],
  [`${head({ "content-length": 1000 })}\r\n`, " "],
  [`${head({ "transfer-encoding": "chunked" })}\r\n5\r\n{"jso`, ""],
];

/** Requests that never end. Returns how long the last one was borne (ms). */
export async function halfSent(target: Target, count: number): Promise<number> {
  const { requestTimeoutMs } = target.settings;
  // Node looks once a second, or as often as the time-out is short.
  const latestMs = requestTimeoutMs + Math.min(1000, requestTimeoutMs) + 1500;
  let slowestMs = 0;
  await inParallel(count, count, async (index) => {
    const [now, drip] = halves[index % halves.length] as (typeof halves)[number];
    const socket = target.connect();
    let answer = "";
    socket.setEncoding("latin1").on("data", (chunk) => {
      answer += chunk;
    });
    const closed = closing(socket);
    const startedAt = performance.now();
    socket.write(now);
    let sent = 0;
    const timer = setInterval(() => {
      if (drip && socket.writable) socket.write(drip[sent++ % drip.length] as string);
    }, 100);
    await Promise.race([closed, sleep(latestMs, undefined, { ref: false })]);
    clearInterval(timer);
    slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    target.findings.expect(socket.closed, "half a request was borne", JSON.stringify([now, drip]));
    if (answer) target.findings.answer(Number(answer.slice(9, 12)), answer);
    socket.destroy();
  });
  return slowestMs;
}

/** Bodies of 20 MB, with and without a length, from callers and strangers. Returns how many were refused. */
export async function large(target: Target, count: number): Promise<number> {
  const body = Buffer.alloc(20_000_000, "x");
  let refused = 0;
  await inParallel(count, 2, async (index) => {
    const client = await new Client(target).initialize();
    const isStranger = index % 4 === 3;
    const answer = await client.send({
      headers: {
        ...(index % 2 === 1 ? { "transfer-encoding": "chunked" } : { "content-length": body.length }),
        ...(isStranger && { authorization: undefined }),
      },
      body,
    });
    if (answer.status === (isStranger ? 401 : 413)) refused++;
    else target.findings.problem("20 MB were not refused", `${answer.status} ${answer.text}`);
  });
  return refused;
}

const basic = Buffer.from(`alice:${tokens.alice}`).toString("base64");
const wrong: readonly (readonly [path: string, authorization: string | undefined])[] = [
  ["/mcp", undefined],
  ["/mcp", "Bearer"],
  ["/mcp", "Bearer wrong-0123456789abcdef"],
  ["/mcp", `Bearer ${tokens.alice}x`],
  ["/mcp", `Bearer ${tokens.alice.slice(0, -1)}`],
  ["/mcp", `Bearer ${tokens.alice} ${tokens.bob}`],
  ["/mcp", `Bearer ${tokens.alice.toUpperCase()}`],
  ["/mcp", `Bearer ${"x".repeat(8000)}`],
  ["/mcp", `Basic ${basic}`],
  ["/mcp", tokens.alice],
  [`/mcp?access_token=${tokens.alice}`, undefined],
  [`/mcp?token=${tokens.bob}`, "Bearer null"],
];

/** Strangers with wrong tokens, and with right ones in wrong places. Returns how many were refused. */
export async function strangers(target: Target, count: number): Promise<number> {
  let refused = 0;
  let next = 0;
  await inParallel(20, 20, async () => {
    const client = new Client(target);
    while (next < count) {
      const [path, authorization] = wrong[next++ % wrong.length] as (typeof wrong)[number];
      const headers = { authorization, cookie: `token=${tokens.bob}` };
      const { status, headers: answered } = await client.send({ path, headers, body: list });
      if (status === 401 && answered["www-authenticate"]?.startsWith("Bearer ")) refused++;
      else target.findings.problem(`${path} ${authorization}: ${status} instead of 401`);
    }
  });
  return refused;
}

/**
 * Calls whose client goes away: when it has asked, while its body is unpacked, when the answer begins, or in the
 * middle of it.
 *
 * @returns how many had certainly begun.
 */
export async function dropped(target: Target, count: number): Promise<number> {
  let begun = 0;
  let next = 0;
  const docIds = Array(100).fill("doc-2");
  const params = { name: "batch_translate", arguments: { docIds }, _meta: { progressToken: 7 } };
  await inParallel(25, 25, async () => {
    const client = await new Client(target).initialize();
    while (next < count) {
      const kind = next++ % 4;
      const body = client.message("tools/call", params);
      const packed = { headers: { "content-encoding": "gzip" }, body: gzipSync(body + " ".repeat(500_000)) };
      const request = client.open(kind === 1 ? packed : { body });
      if (kind < 2) await once(request, "finish");
      else {
        const [response] = (await once(request, "response")) as [IncomingMessage];
        response.on("error", () => {});
        if (kind === 3) await once(response, "data");
        begun++;
      }
      request.destroy();
    }
  });
  return begun;
}

/**
 * Clients that ask for far more than they read: 60 MB each, in a row on one connection. The server must stop reading
 * instead of piling the answers up.
 *
 * @returns how much of it the server, and the network between, took, and how much of that stays in memory (bytes).
 */
export async function unread(target: Target, count: number): Promise<{ taken: number; held: number }> {
  const before = await target.measure();
  let taken = 0;
  let isOver = false;
  const sockets: net.Socket[] = [];
  const stall = async () => {
    const client = await new Client(target).initialize();
    const socket = target.connect().pause();
    sockets.push(socket);
    const closed = closing(socket);
    for (let n = 0; n < 600; n++) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: `${n}${"i".repeat(100_000)}`, method: "ping" });
      const headers = client.headers({ "content-length": body.length });
      const isTaken = new Promise((resolve) => {
        socket.write(`${head(headers)}\r\n${body}`, resolve);
      });
      await Promise.race([isTaken, closed]);
      if (isOver) return;
      taken += body.length;
    }
    target.findings.problem("the server took all of what nobody reads the answers of");
  };
  const stalls = Promise.all(Array.from({ length: count }, stall));
  await sleep(2000);
  const stalled = await target.measure();
  isOver = true;
  for (const socket of sockets) socket.destroy();
  await stalls;
  return { taken, held: stalled.heapBytes - before.heapBytes };
}
