import http, { type IncomingMessage, type OutgoingHttpHeaders } from "node:http";
import { bearer } from "./findings.ts";
import type { Target } from "./target.ts";

export interface Message {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: { progress?: number };
  readonly result?: {
    isError?: boolean;
    structuredContent?: unknown;
    tools?: unknown[];
    _meta?: { "create-mcp-server/error"?: { code: string } };
  };
  readonly error?: { code: number; message: string };
}

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
  readonly messages: Message[];
}

export interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
}

export const rpcHeaders = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
} satisfies OutgoingHttpHeaders;

/** Never closes its connection: that is left to the server, whatever time-out it announces. */
class PatientAgent extends http.Agent {
  constructor() {
    super({ keepAlive: true, maxSockets: 1 });
  }

  override keepSocketAlive(): boolean {
    return true;
  }
}

/** One client with one connection. It checks every answer for what must not be in it. */
export class Client {
  readonly target: Target;
  session: OutgoingHttpHeaders = {};
  readonly #agent = new PatientAgent();
  #nextId = 0;

  constructor(target: Target) {
    this.target = target;
  }

  /** Opens a session; without sessions there is nothing to open, but clients do not know that. */
  async initialize(): Promise<this> {
    const clientInfo = { name: "soak", version: "1" };
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
    const answer = await this.rpc("initialize", params);
    const id = answer.headers["mcp-session-id"];
    const { findings, settings } = this.target;
    const isRight = answer.status === 200 && (id === undefined) === settings.isStateless;
    findings.expect(isRight, "initialize went wrong", `${answer.status} ${answer.text}`);
    if (id === undefined) return this;
    this.target.sessionsOpened++;
    this.session = { "mcp-session-id": id };
    await this.send({ body: JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }) });
    return this;
  }

  rpc(method: string, params: object): Promise<Answer> {
    return this.send({ body: this.message(method, params) });
  }

  call(name: string, args: object, _meta?: object): Promise<Answer> {
    return this.rpc("tools/call", { name, arguments: args, ...(_meta && { _meta }) });
  }

  /** A request as text, with an id of its own. */
  message(method: string, params: object): string {
    this.#nextId++;
    return JSON.stringify({ jsonrpc: "2.0", id: this.#nextId, method, params });
  }

  get lastId(): number {
    return this.#nextId;
  }

  /** Sends a request; a header that is set to undefined is left out. */
  async send({ method = "POST", path = "/mcp", headers = {}, body }: Sent): Promise<Answer> {
    const request = this.target.open(
      { method, path, headers: this.headers(headers), agent: this.#agent },
      body,
    );
    return readAnswer(request, this.target);
  }

  /** Opens a request whose answer the caller reads, or drops. */
  open({ method = "POST", headers = {}, body }: Sent): http.ClientRequest {
    return this.target.open({ method, headers: this.headers(headers), agent: false }, body);
  }

  headers(more: OutgoingHttpHeaders): OutgoingHttpHeaders {
    const all = { ...rpcHeaders, ...bearer, ...this.session, ...more };
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  }
}

/** Reads an answer to its end and notes it; one that never comes is a problem, not an exception. */
async function readAnswer(request: http.ClientRequest, target: Target): Promise<Answer> {
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.once("response", resolve).once("error", reject);
    });
    let text = "";
    for await (const chunk of response.setEncoding("utf8")) text += chunk;
    const { statusCode: status = 0, headers } = response;
    target.findings.answer(status, JSON.stringify(headers) + text);
    return { status, headers, text, messages: messagesIn(headers, text) };
  } catch (error) {
    target.findings.problem("no answer", String(error));
    return { status: 0, headers: {}, text: "", messages: [] };
  }
}

/** The JSON-RPC messages of an answer, be it one body or a stream of events. */
function messagesIn(headers: http.IncomingHttpHeaders, text: string): Message[] {
  const type = headers["content-type"] ?? "";
  if (type.startsWith("application/json")) return [JSON.parse(text) as Message].flat();
  return [...text.matchAll(/^data: (.+)$/gm)].map((match) => JSON.parse(match[1] as string) as Message);
}

/** Does `count` pieces of work, `width` at a time. */
export async function inParallel(
  count: number,
  width: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, worker));
}
