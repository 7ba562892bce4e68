import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import {
	isJSONRPCRequest,
	type JSONRPCMessage,
	type RequestId,
} from "@modelcontextprotocol/sdk/types.js";
import type { Request, Response } from "express";

/** One connected client, with the server that answers it. */
export class Session {
	readonly caller: string | undefined;
	lastUsedAt = performance.now();
	readonly #server: Server;
	readonly #transport: StreamableHTTPServerTransport;
	readonly #idleMs: number;
	#idleTimer: NodeJS.Timeout | undefined;
	#openResponses = 0;
	/** The HTTP responses that wait for the answer to a request. */
	readonly #waiting = new Map<RequestId, Response>();

	constructor(
		server: Server,
		transport: StreamableHTTPServerTransport,
		caller: string | undefined,
		idleMs: number,
	) {
		this.#server = server;
		this.#transport = transport;
		this.caller = caller;
		this.#idleMs = idleMs;
	}

	get isBusy(): boolean {
		return this.#waiting.size > 0;
	}

	/** Closes the server and its transport: running calls are aborted, open streams end. */
	async close(): Promise<void> {
		clearTimeout(this.#idleTimer);
		await this.#server.close();
	}

	async handle(req: Request, res: Response): Promise<void> {
		this.#countAsUsed(res);
		const messages: JSONRPCMessage[] = [req.body ?? []].flat();
		const ids = messages.filter(isJSONRPCRequest).map((request) => request.id);
		for (const id of ids) this.#waiting.set(id, res);
		res.on("close", () => {
			for (const id of ids) {
				if (this.#waiting.get(id) !== res) continue;
				if (!res.writableFinished) this.#cancel(id, "the client has gone");
				this.#waiting.delete(id);
			}
		});
		await this.#transport.handleRequest(req, res, req.body);
		for (const message of messages) this.#endIfCancelled(message);
	}

	/** A session is idle when no response of it is open, be it an answer or a stream. */
	#countAsUsed(res: Response): void {
		clearTimeout(this.#idleTimer);
		this.lastUsedAt = performance.now();
		this.#openResponses++;
		res.on("close", () => {
			this.lastUsedAt = performance.now();
			this.#openResponses--;
			if (this.#openResponses > 0) return;
			clearTimeout(this.#idleTimer);
			this.#idleTimer = setTimeout(
				() => void this.close(),
				this.#idleMs,
			).unref();
		});
	}

	/** The SDK fires the signal of a cancelled call but leaves its HTTP response open. */
	#endIfCancelled(message: JSONRPCMessage): void {
		if (!("method" in message) || message.method !== "notifications/cancelled")
			return;
		const id = message.params?.requestId as RequestId;
		const res = this.#waiting.get(id);
		if (!res) return;
		this.#waiting.delete(id);
		this.#release(id);
		if (!res.headersSent) res.status(202);
		res.end();
	}

	/** Stops a call whose client has gone, as if the client had said so. */
	#cancel(requestId: RequestId, reason: string): void {
		this.#transport.onmessage?.({
			jsonrpc: "2.0",
			method: "notifications/cancelled",
			params: { requestId, reason },
		});
		this.#release(requestId);
	}

	/**
	 * The transport forgets a request only when its answer passes through, and a
	 * cancelled call has none: so its stream is closed and an answer sent that can
	 * no longer reach anybody.
	 */
	#release(id: RequestId): void {
		this.#transport.closeSSEStream(id);
		const error = { code: -32000, message: "Cancelled" };
		this.#transport.send({ jsonrpc: "2.0", id, error }).catch(() => {});
	}
}
