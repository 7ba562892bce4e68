import { type ChildProcess, spawn } from "node:child_process";
import http from "node:http";
import net from "node:net";
import path from "node:path";
import type { Readable } from "node:stream";
import { onTestFinished } from "vitest";
import { initializeParams, Lines, type Message, parseLog } from "./stdio-server.ts";

/** What servers under test accept, and who it belongs to. */
export const tokens = { alice: "alice-0123456789abcdef", bob: "bob-0123456789abcdef" } as const;

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

export interface RequestOptions {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly body?: string | Buffer;
}

export const clientHeaders = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

/** A running HTTP server, spoken to in raw requests. */
export class HttpServer {
  readonly process: ChildProcess;
  readonly stdout: Lines;
  readonly stderr: Lines;
  readonly ended: Promise<number | null>;
  #port = 0;
  #host = "127.0.0.1";

  /** @param through a command that runs the one after it, such as `setpriv --reuid=12345`. */
  constructor(project: string, env: Record<string, string>, through: readonly string[] = []) {
    const [command, ...args] = [...through, process.execPath, path.join(project, "dist", "index.js")];
    this.process = spawn(command as string, args, {
      env: { PORT: "0", MCP_TRANSPORT: "http", MCP_AUTH_TOKENS: tokenPairs, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.stdout = new Lines(this.process.stdout as Readable);
    this.stderr = new Lines(this.process.stderr as Readable);
    this.ended = new Promise((resolve) => this.process.once("close", resolve));
  }

  async listening(): Promise<this> {
    const { url } = await this.logged({ message: "listening" });
    this.#port = Number(new URL(url as string).port);
    this.#host = new URL(url as string).hostname.replace(/^\[|\]$/g, "");
    return this;
  }

  get url(): URL {
    return new URL(`http://${this.#host.includes(":") ? `[${this.#host}]` : this.#host}:${this.#port}/mcp`);
  }

  get address(): { host: string; port: number } {
    return { host: this.#host, port: this.#port };
  }

  /** Resolves with the first log line that has these fields. */
  logged(fields: Record<string, unknown>): Promise<Record<string, unknown>> {
    return this.stdout.find(
      (line) => {
        const entry = parseLog(line);
        return Object.entries(fields).every(([key, value]) => entry[key] === value) ? entry : undefined;
      },
      `a log line with ${JSON.stringify(fields)}`,
    );
  }

  /** Opens a request; the caller reads, or drops, its answer. */
  open({ method = "POST", path: at = "/mcp", headers = {}, body }: RequestOptions = {}): http.ClientRequest {
    const request = http.request({ ...this.address, method, path: at, headers, agent: false });
    request.on("error", () => {});
    request.end(body);
    return request;
  }

  /** Sends a request and reads its answer to the end. */
  request(options: RequestOptions = {}): Promise<Answer> {
    return readAnswer(this.open(options));
  }

  /** Sends a JSON-RPC message as a client would. */
  async post(
    message: unknown,
    headers: http.OutgoingHttpHeaders = {},
  ): Promise<Answer & { message: Message }> {
    const answer = await this.request({
      headers: { ...clientHeaders, ...headers },
      body: JSON.stringify(message),
    });
    return { ...answer, message: messagesIn(answer).at(-1) as Message };
  }

  /** Initializes a session and returns the headers that belong to it. */
  async session(headers: http.OutgoingHttpHeaders = {}): Promise<http.OutgoingHttpHeaders> {
    const { headers: answered, text } = await this.post(
      { jsonrpc: "2.0", id: "initialize", method: "initialize", params: initializeParams },
      headers,
    );
    const id = answered["mcp-session-id"];
    if (id === undefined) throw new Error(`no session: ${text}`);
    return { ...headers, "mcp-session-id": id };
  }

  /** Sends raw bytes over a connection of its own, and resolves with all that comes until the server closes it. */
  raw(bytes: string | Buffer): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = net.connect(this.address, () => socket.write(bytes));
      let text = "";
      socket.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      socket.on("close", () => resolve(text));
      socket.on("error", reject);
    });
  }

  async kill(): Promise<void> {
    this.process.kill("SIGKILL");
    await this.ended;
  }
}

export const tokenPairs = Object.entries(tokens)
  .map(([name, token]) => `${name}:${token}`)
  .join(",");

export const bearer = (name: keyof typeof tokens) => ({ authorization: `Bearer ${tokens[name]}` });

/** A POST as bytes; the connection closes after its answer. A header of no characters is left out. */
export function bytesOf(headers: Record<string, string>, body: string, start = "POST /mcp HTTP/1.1"): string {
  const all = {
    Host: "localhost",
    "Content-Type": "application/json",
    Accept: clientHeaders.accept,
    "Content-Length": String(Buffer.byteLength(body)),
    Connection: "close",
    ...headers,
  };
  const lines = Object.entries(all)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}: ${value}`);
  return `${start}\r\n${lines.join("\r\n")}\r\n\r\n${body}`;
}

/** The JSON-RPC messages of an answer, be it one body or a stream of events. */
export function messagesIn({ headers, text }: Answer): Message[] {
  if (text === "") return [];
  if (!headers["content-type"]?.startsWith("text/event-stream")) return [JSON.parse(text) as Message].flat();
  return [...text.matchAll(/^data: (.+)$/gm)].map((match) => JSON.parse(match[1] as string) as Message);
}

export function readAnswer(request: http.ClientRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request.on("error", reject);
    request.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
      response.on("error", reject);
    });
  });
}

/** Starts a server that ends with the test, whether it comes to listen or not. */
export function launch(
  project: string,
  env: Record<string, string> = {},
  through?: readonly string[],
): HttpServer {
  const server = new HttpServer(project, env, through);
  onTestFinished(() => server.kill());
  return server;
}

/** Starts a server that ends with the test, and waits until it listens. */
export async function startHttp(project: string, env: Record<string, string> = {}): Promise<HttpServer> {
  return launch(project, env).listening();
}

/** A tool call as a message. */
export function toolCall(id: number | string, name: string, args: unknown = {}, _meta?: object): object {
  return {
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name, arguments: args, ...(_meta && { _meta }) },
  };
}
