import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import autocannon from "autocannon";
import { rolldown } from "rolldown";
import { generatedServer } from "./generated.ts";
import { header, median, row } from "./measure.ts";

/**
 * Measures a generated server beside the SDK's documented pattern with the same tools, in turn: requests per second
 * over stateless HTTP with access log, ids and output checks on; start to first answer, and memory, over stdio.
 */

const tools = Array.from({ length: 10 }, (_, index) => `tool_${index}`);
const project = generatedServer(["--transport", "both", "--auth", "none", "--tools", tools.join(",")]);

const documented = path.join(project, "documented.mjs");
const bundle = await rolldown({
  input: path.join(import.meta.dirname, "documented-pattern.ts"),
  platform: "node",
  external: /^[^./]/,
});
await bundle.write({ file: documented, format: "esm" });

const generated = path.join(project, "dist", "index.js");
const environment = { PATH: process.env.PATH, TOOLS: tools.join(","), PORT: "0", MCP_STATELESS: "true" };

const request = (method: string, params: object) => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
const call = request("tools/call", { name: "tool_3", arguments: { id: "42" } });
const list = request("tools/list", {});

/** Requests per second over 16 connections. */
async function throughput(script: string, body: string): Promise<number> {
  const server = spawn(process.execPath, [script], {
    env: { ...environment, MCP_TRANSPORT: "http" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    const url = await listeningUrl(server);
    const load = { url, method: "POST", body, connections: 16 } as const;
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    await autocannon({ ...load, headers, duration: 2 });
    const result = await autocannon({ ...load, headers, duration: 5 });
    if (result.non2xx > 0 || result.errors > 0) throw new Error(`${script}: ${result.non2xx} bad answers`);
    return result.requests.average;
  } finally {
    server.kill("SIGKILL");
    await once(server, "exit");
  }
}

async function listeningUrl(server: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: server.stdout as NodeJS.ReadableStream })) {
    const { url } = JSON.parse(line) as { url?: string };
    if (!url) continue;
    server.stdout?.resume();
    return url;
  }
  throw new Error("the server ended without listening");
}

interface Start {
  readonly ms: number;
  readonly mb: number;
}

/** From the start of the process to the first answer (ms), and its memory then (MB). */
async function start(script: string): Promise<Start> {
  const startedAt = performance.now();
  const server = spawn(process.execPath, [script], { env: environment, stdio: ["pipe", "pipe", "ignore"] });
  const clientInfo = { name: "bench", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  server.stdin.write(`${request("initialize", params)}\n`);
  await once(server.stdout, "data");
  const ms = performance.now() - startedAt;
  const status = readFileSync(`/proc/${server.pid}/status`, "utf8");
  const mb = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  server.kill("SIGKILL");
  await once(server, "exit");
  return { ms, mb };
}

async function compareThroughput(title: string, body: string, budget: string): Promise<void> {
  const rounds: [number, number][] = [];
  for (let round = 0; round < 3; round++) {
    rounds.push([await throughput(generated, body), await throughput(documented, body)]);
  }
  const figures = `${median(rounds.map(([a]) => a)).toFixed(0)} and ${median(rounds.map(([, b]) => b)).toFixed(0)} a second`;
  console.log(row(title, median(rounds.map(([a, b]) => a / b)), budget, figures));
}

console.log(header.join("\n"));
await compareThroughput("stateless HTTP, tools/call", call, "≥ 1.1");
await compareThroughput("stateless HTTP, tools/list", list, "≥ 1.3");

const starts: (readonly [Start, Start])[] = [];
for (let pair = 0; pair < 15; pair++) starts.push([await start(generated), await start(documented)] as const);
const ms = (side: 0 | 1) => median(starts.map((pair) => pair[side].ms)).toFixed(0);
const mb = (side: 0 | 1) => median(starts.map((pair) => pair[side].mb)).toFixed(0);
const ratioMs = median(starts.map(([a, b]) => a.ms / b.ms));
const ratioMb = median(starts.map(([a, b]) => a.mb / b.mb));
console.log(row("start to first answer", ratioMs, "≤ 1.1", `${ms(0)} and ${ms(1)} ms`));
console.log(row("memory after the first answer", ratioMb, "≤ 1.1", `${mb(0)} and ${mb(1)} MB`));
