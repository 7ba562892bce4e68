import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { Findings, tokens } from "./findings.ts";

/** What the observer in the server's process answers. */
export interface Figures {
  readonly heapBytes: number;
  /** The memory of the whole process: now, and the most since the last measurement. */
  readonly rssBytes: number;
  readonly peakBytes: number;
  /** The longest that the event loop did nothing else since then. */
  readonly blockedMs: number;
  readonly sockets: number;
  readonly sessions: number;
  readonly servers: number;
  readonly pollution: number;
}

export interface Settings {
  readonly isStateless: boolean;
  readonly maxSessions: number;
  readonly idleMs: number;
  readonly requestTimeoutMs: number;
}

/** Resolves when a connection is closed, however it ended. */
export function closing(socket: net.Socket): Promise<void> {
  return new Promise((resolve) => socket.once("close", () => resolve()));
}

/** A built server in a process of its own, seen from outside and measured from inside. */
export class Target {
  readonly settings: Settings;
  readonly findings = new Findings();
  /** How often the log has said what. */
  readonly messages = new Map<string, number>();
  logLines = 0;
  /** How many clients had to be told that there is no room. */
  expectedRefusals = 0;
  /** Sessions that clients have been given. */
  sessionsOpened = 0;
  readonly #process: ChildProcess;
  readonly #logRead: Promise<unknown>;
  #url: URL | undefined;
  #hasEnded = false;

  constructor(project: string, settings: Settings) {
    this.settings = settings;
    const observer = path.join(project, "observer.mjs");
    copyFileSync(path.join(import.meta.dirname, "observer.mjs"), observer);
    const args = ["--expose-gc", "--import", observer, path.join(project, "dist", "index.js")];
    this.#process = spawn(process.execPath, args, {
      env: {
        PORT: "0",
        MCP_LOG_LEVEL: "debug",
        MCP_AUTH_TOKENS: Object.entries(tokens)
          .map((pair) => pair.join(":"))
          .join(","),
        MCP_STATELESS: String(settings.isStateless),
        MCP_MAX_SESSIONS: String(settings.maxSessions),
        MCP_SESSION_IDLE_MS: String(settings.idleMs),
        MCP_REQUEST_TIMEOUT_MS: String(settings.requestTimeoutMs),
      },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    process.once("exit", () => this.#process.kill("SIGKILL"));
    this.#process.once("exit", (code, signal) => {
      this.#hasEnded = true;
      this.findings.expect(code === 0, `the server ended with ${code ?? signal}`);
    });
    const streams = [this.#process.stdout, this.#process.stderr] as Readable[];
    this.#logRead = Promise.all(streams.map((stream) => this.#readLog(stream)));
  }

  get url(): URL {
    if (!this.#url) throw new Error("the server does not listen yet");
    return this.#url;
  }

  get address(): { host: string; port: number } {
    return { host: this.url.hostname, port: Number(this.url.port) };
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  async listening(): Promise<this> {
    const stdout = this.#process.stdout as Readable;
    while (!this.#url) {
      await Promise.race([once(stdout, "data"), once(stdout, "end")]);
      if (stdout.readableEnded) throw new Error(`no start: ${[...this.messages.keys()].join("\n")}`);
    }
    return this;
  }

  async #readLog(stream: Readable): Promise<void> {
    for await (const line of createInterface({ input: stream })) {
      this.logLines++;
      this.findings.logLine(line);
      const message = /"message":"([^"]*)"\}$/.exec(line)?.[1] ?? line;
      this.messages.set(message, (this.messages.get(message) ?? 0) + 1);
      if (message === "listening") this.#url = new URL((JSON.parse(line) as { url: string }).url);
    }
  }

  /** Collects garbage in the server, and measures what is left. */
  async measure(): Promise<Figures> {
    this.#process.send("measure");
    const [figures] = (await once(this.#process, "message")) as [Figures];
    return figures;
  }

  /** Measures again and again until sockets and sessions are gone, or should long have been. */
  async settled(): Promise<Figures> {
    const deadline = performance.now() + this.settings.idleMs + 15_000;
    for (;;) {
      const figures = await this.measure();
      const isQuiet = figures.sockets === 0 && figures.sessions === 0 && figures.servers === 0;
      if (isQuiet || performance.now() > deadline) return figures;
      await sleep(200);
    }
  }

  async stop(): Promise<number | null> {
    if (!this.#hasEnded) {
      const ended = once(this.#process, "exit");
      this.#process.kill("SIGTERM");
      await ended;
    }
    await this.#logRead;
    return this.#process.exitCode;
  }

  /** Opens a connection of raw bytes. */
  connect(): net.Socket {
    return net.connect(this.address).on("error", () => {});
  }

  /** Opens a request; the caller reads, or drops, its answer. */
  open(options: http.RequestOptions, body?: string | Buffer): http.ClientRequest {
    const request = http.request({ ...this.address, path: "/mcp", method: "POST", ...options });
    request.on("error", () => {});
    request.end(body);
    return request;
  }
}
