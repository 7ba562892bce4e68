import { randomUUID } from "node:crypto";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import {
	isJSONRPCRequest,
	type JSONRPCMessage,
	type RequestId,
} from "@modelcontextprotocol/sdk/types.js";
import type { Request, Response } from "express";
import { config } from "../config.js";
import { rpcCode } from "../errors.js";
import type { Server } from "../server.js";
import { refuse, serverError } from "./answers.js";

/** What the SDK's clients know as "the session is gone: initialize again". */
export const sessionNotFound = -32001;

/** One connected client, with the server that answers it. */
export class Session {
	readonly id: string = randomUUID();
	readonly caller: string | undefined;
	lastUsedAt = performance.now();
	readonly #server: Server;
	readonly #transport: StreamableHTTPServerTransport;
	readonly #onClose: () => void;
	#isClosed = false;
	#idleTimer: NodeJS.Timeout | undefined;
	#openResponses = 0;
	/** The HTTP responses that wait for the answer to a request. */
	readonly #waiting = new Map<RequestId, Response>();

	constructor(
		server: Server,
		caller: string | undefined,
		onClose: (session: Session) => void,
	) {
		this.caller = caller;
		this.#server = server;
		this.#transport = new StreamableHTTPServerTransport({
			sessionIdGenerator: () => this.id,
			enableJsonResponse: config().MCP_JSON_RESPONSE,
		});
		this.#onClose = () => onClose(this);
	}

	/** Whether a client has initialized it. */
	get isInitialized(): boolean {
		return this.#transport.sessionId !== undefined;
	}

	get isBusy(): boolean {
		return this.#waiting.size > 0;
	}

	async connect(): Promise<void> {
		this.#server.onclose = () => this.#closed();
		await this.#server.connect(this.#transport);
		const receive = this.#transport.onmessage;
		this.#transport.onmessage = (message, extra) => {
			receive?.(message, extra);
			this.#endIfCancelled(message);
		};
	}

	/** Closes the server and its transport: running calls are aborted, open streams end. */
	async close(): Promise<void> {
		await this.#server.close();
	}

	async handle(req: Request, res: Response): Promise<void> {
		const messages: JSONRPCMessage[] = [req.body ?? []].flat();
		const ids = messages.filter(isJSONRPCRequest).map((request) => request.id);
		if (ids.some((id) => this.#waiting.has(id))) {
			// The transport would send both answers to one of the two.
			refuse(res, 400, "This id is still in use", rpcCode.invalidRequest);
			return;
		}
		for (const id of ids) this.#waiting.set(id, res);
		this.#countAsUsed(res);
		res.on("close", () => {
			for (const id of ids) {
				// It was cancelled, and another request may have taken its id since.
				if (this.#waiting.get(id) !== res) continue;
				if (!res.writableFinished) this.#cancel(id, "the client has gone");
				this.#waiting.delete(id);
			}
		});
		await this.#transport.handleRequest(req, res, req.body);
	}

	/** A session is idle when no response of it is open, be it an answer or a stream. */
	#countAsUsed(res: Response): void {
		clearTimeout(this.#idleTimer);
		this.lastUsedAt = performance.now();
		this.#openResponses++;
		res.on("close", () => {
			this.lastUsedAt = performance.now();
			this.#openResponses--;
			// A timer would keep a closed session in memory.
			if (this.#openResponses > 0 || this.#isClosed) return;
			clearTimeout(this.#idleTimer);
			this.#idleTimer = setTimeout(
				() => void this.close(),
				config().MCP_SESSION_IDLE_MS,
			).unref();
		});
	}

	#closed(): void {
		this.#isClosed = true;
		clearTimeout(this.#idleTimer);
		// The transport has ended its streams, but forgets who waits for JSON.
		for (const res of this.#waiting.values()) {
			if (config().MCP_JSON_RESPONSE && !res.headersSent) {
				refuse(res, 404, "The session was closed", sessionNotFound);
			}
		}
		this.#onClose();
	}

	/** Stops a call whose client has gone, as if the client had said so. */
	#cancel(requestId: RequestId, reason: string): void {
		this.#transport.onmessage?.({
			jsonrpc: "2.0",
			method: "notifications/cancelled",
			params: { requestId, reason },
		});
	}

	/** The SDK fires the signal of a cancelled call but leaves its HTTP response open. */
	#endIfCancelled(message: JSONRPCMessage): void {
		if (!("method" in message)) return;
		if (message.method !== "notifications/cancelled") return;
		const id = message.params?.requestId as RequestId;
		const res = this.#waiting.get(id);
		if (!res) return;
		this.#waiting.delete(id);
		// Other calls of a batch may still need the response.
		if (![...this.#waiting.values()].includes(res)) {
			this.#transport.closeSSEStream(id);
			if (config().MCP_JSON_RESPONSE && !res.headersSent) res.status(202).end();
		}
		// The transport forgets a request only when its answer passes through, so it
		// gets one, which reaches nobody once the response has ended.
		const error = { code: serverError, message: "Cancelled" };
		this.#transport.send({ jsonrpc: "2.0", id, error }).catch(() => {});
	}
}
