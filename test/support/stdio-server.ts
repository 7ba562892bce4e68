import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import type { Readable } from "node:stream";
import { onTestFinished } from "vitest";
import type { Answers } from "../../src/options/declaration.ts";
import { planProject } from "../../src/plan/plan.ts";
import { builtProject, plainAnswers } from "./generated.ts";

/** A JSON-RPC message as it came over the wire. */
export interface Message {
  readonly jsonrpc: "2.0";
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of an answer.
  readonly result?: any;
  readonly error?: { code: number; message: string; data?: Record<string, unknown> };
}

export interface StartOptions {
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  /** What is started instead of `node dist/index.js`. */
  readonly command?: readonly [string, ...string[]];
}

/** The lines of a stream, and the possibility to wait for one of them. */
export class Lines {
  readonly all: string[] = [];
  /** When each line came (`performance.now()`). */
  readonly times: number[] = [];
  #unread = "";
  #ended = false;
  #waiting = new Set<() => void>();

  constructor(stream: Readable) {
    stream.setEncoding("utf8");
    stream.on("data", (chunk: string) => {
      const lines = chunk.split("\n");
      lines[0] = this.#unread + lines[0];
      this.#unread = lines.pop() ?? "";
      this.all.push(...lines);
      this.times.push(...lines.map(() => performance.now()));
      this.#wake();
    });
    stream.on("error", () => {});
    stream.on("close", () => {
      if (this.#unread !== "") this.all.push(this.#unread);
      this.#ended = true;
      this.#wake();
    });
  }

  /** Resolves with the first value that `pick` finds among the lines. */
  async find<Value>(pick: (line: string) => Value | undefined, what: string): Promise<Value> {
    for (let next = 0; ; ) {
      for (; next < this.all.length; next += 1) {
        const value = pick(this.all[next] as string);
        if (value !== undefined) return value;
      }
      if (this.#ended) throw new Error(`never came: ${what}\n${this.all.join("\n").slice(-3000)}`);
      await new Promise<void>((resolve) => this.#waiting.add(resolve));
    }
  }

  #wake(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}

/** A running stdio server, spoken to in raw bytes. */
export class StdioServer {
  readonly process: ChildProcess;
  readonly stdout: Lines;
  readonly stderr: Lines;
  /** How the process ended, once all that it wrote has been read. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; at: number }>;
  #nextId = 1000;

  constructor(project: string, { env = {}, cwd, command }: StartOptions = {}) {
    const [program, ...args] = command ?? [process.execPath, path.join(project, "dist", "index.js")];
    this.process = spawn(program, args, { env, cwd: cwd ?? project, stdio: "pipe" });
    this.stdout = new Lines(this.process.stdout as Readable);
    this.stderr = new Lines(this.process.stderr as Readable);
    this.process.stdin?.on("error", () => {});
    this.ended = new Promise((resolve, reject) => {
      let at = 0;
      this.process.once("exit", () => {
        at = performance.now();
      });
      this.process.once("close", (code, signal) => resolve({ code, signal, at }));
      this.process.once("error", reject);
    });
  }

  /** Does the handshake of the protocol. */
  async initialize(): Promise<this> {
    this.send({ id: "initialize", method: "initialize", params: initializeParams });
    await this.answer("initialize");
    this.send({ method: "notifications/initialized" });
    return this;
  }

  write(bytes: string | Uint8Array): void {
    this.process.stdin?.write(bytes);
  }

  send(message: object): void {
    this.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  /** Resolves with the answer to a request. */
  answer(id: string | number | null): Promise<Message> {
    return this.stdout.find(
      (line) => {
        const message = JSON.parse(line) as Message;
        return message.id === id && message.method === undefined ? message : undefined;
      },
      `an answer with id ${JSON.stringify(id)}`,
    );
  }

  /** Sends one line and resolves with all that comes for it before the answer to the ping after it. */
  async answersTo(line: string): Promise<Message[]> {
    const before = this.stdout.all.length;
    this.write(`${line}\n`);
    const { id } = await this.request("ping");
    return this.messages()
      .slice(before)
      .filter((message) => message.id !== id);
  }

  /** Sends a request and resolves with its answer. */
  request(method: string, params?: unknown): Promise<Message> {
    this.#nextId += 1;
    const id = this.#nextId;
    this.send({ id, method, params });
    return this.answer(id);
  }

  call(name: string, args: unknown = {}, _meta?: Record<string, unknown>): Promise<Message> {
    return this.request("tools/call", { name, arguments: args, ...(_meta && { _meta }) });
  }

  /** Every message that came so far. */
  messages(): Message[] {
    return this.stdout.all.map((line) => JSON.parse(line) as Message);
  }

  /** Resolves with the first log line that has these fields. */
  logged(fields: Record<string, unknown>): Promise<Record<string, unknown>> {
    return this.stderr.find(
      (line) => {
        const entry = parseLog(line);
        const matches = Object.entries(fields).every(([key, value]) => entry[key] === value);
        return matches ? entry : undefined;
      },
      `a log line with ${JSON.stringify(fields)}`,
    );
  }

  /** Ends the server, if it still runs. */
  async kill(): Promise<void> {
    this.process.kill("SIGKILL");
    await this.ended.catch(() => {});
  }
}

export const initializeParams = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "raw", version: "1.0.0" },
};

/** A log line as data; what is no JSON has no fields. */
export function parseLog(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** Starts a server that ends with the test. */
export function startServer(project: string, options?: StartOptions): StdioServer {
  const server = new StdioServer(project, options);
  onTestFinished(() => server.kill());
  return server;
}

/** A built project with the tools of a file in `test/behaviour/fixtures`, beside its own. */
export function projectWithTools(fixture: string, choices: Partial<Answers> = {}): Promise<string> {
  const answers = { ...plainAnswers, progress: true, ...choices };
  const file = path.join(import.meta.dirname, "..", "behaviour", "fixtures", fixture);
  const registry = planProject(answers).find(({ path }) => path === "src/tools/index.ts")?.content ?? "";
  return builtProject(answers, {
    "src/tools/hostile.ts": readFileSync(file, "utf8"),
    "src/tools/index.ts": `import { hostileTools } from "./hostile.js";\n${registry.replace(
      "] as const;",
      "\t...hostileTools,\n] as const;",
    )}`,
  });
}
