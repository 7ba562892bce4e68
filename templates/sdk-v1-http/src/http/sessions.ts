import { isInitializeRequest } from "@modelcontextprotocol/sdk/types.js";
import type { Request, Response } from "express";
import { config } from "../config.js";
import type { Logger } from "../logger.js";
import type { Server } from "../server.js";
import { refuse, serverError } from "./answers.js";
import { Session, sessionNotFound } from "./session.js";

/** The clients that are connected: bounded in number, and in how long they may be idle. */
export class Sessions {
	readonly #createServer: () => Server;
	readonly #log: Logger;
	readonly #sessions = new Map<string, Session>();

	constructor(createServer: () => Server, log: Logger) {
		this.#createServer = createServer;
		this.#log = log;
	}

	readonly handle = async (req: Request, res: Response): Promise<void> => {
		const id = req.get("mcp-session-id");
		const session = id === undefined ? undefined : this.#sessions.get(id);
		if (session && session.caller === res.locals.caller) {
			await session.handle(req, res);
		} else if (id !== undefined) {
			// Also for the session of another caller: nobody learns that it exists.
			refuse(res, 404, "Session not found; initialize again", sessionNotFound);
		} else if (req.method === "POST" && isInitializeRequest(req.body)) {
			await this.#open(req, res);
		} else {
			refuse(res, 400, "The Mcp-Session-Id header is missing", serverError);
		}
	};

	async closeAll(): Promise<void> {
		await Promise.all([...this.#sessions.values()].map((s) => s.close()));
	}

	async #open(req: Request, res: Response): Promise<void> {
		if (this.#isFull() && !this.#closeOldest()) {
			res.set("Retry-After", "5");
			refuse(res, 503, "Too many sessions; try again later");
			return;
		}
		const { caller } = res.locals;
		const session = new Session(this.#createServer(), caller, ({ id }) => {
			this.#sessions.delete(id);
			this.#log.debug({ sessionId: id }, "session closed");
		});
		this.#sessions.set(session.id, session);
		await session.connect();
		await session.handle(req, res);
		// The transport refused to initialize: there is nothing to come back to.
		if (!session.isInitialized) await session.close();
	}

	#isFull(): boolean {
		return this.#sessions.size >= config().MCP_MAX_SESSIONS;
	}

	/** Makes room by closing the session that has been unused for longest, if one has no call running. */
	#closeOldest(): boolean {
		let oldest: Session | undefined;
		for (const session of this.#sessions.values()) {
			if (session.isBusy) continue;
			if (!oldest || session.lastUsedAt < oldest.lastUsedAt) oldest = session;
		}
		if (!oldest) return false;
		// At once: the next client to come must not find the same room again.
		this.#sessions.delete(oldest.id);
		void oldest.close();
		return true;
	}
}
