import { randomUUID } from "node:crypto";
import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { isInitializeRequest } from "@modelcontextprotocol/sdk/types.js";
import type { Request, Response } from "express";
import { config } from "../config.js";
import type { Logger } from "../logger.js";
import { refuse, serverError, sessionNotFound } from "./answers.js";
import { Session } from "./session.js";

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
		const { MCP_JSON_RESPONSE, MCP_MAX_SESSIONS, MCP_SESSION_IDLE_MS } =
			config();
		if (
			this.#sessions.size >= MCP_MAX_SESSIONS &&
			!(await this.#closeOldest())
		) {
			res.set("Retry-After", "5");
			refuse(res, 503, "Too many sessions; try again later");
			return;
		}
		const id = randomUUID();
		const server = this.#createServer();
		const transport = new StreamableHTTPServerTransport({
			sessionIdGenerator: () => id,
			enableJsonResponse: MCP_JSON_RESPONSE,
		});
		const session = new Session(
			server,
			transport,
			res.locals.caller,
			MCP_SESSION_IDLE_MS,
		);
		this.#sessions.set(id, session);
		server.onclose = () => {
			this.#sessions.delete(id);
			this.#log.debug({ sessionId: id }, "session closed");
		};
		await server.connect(transport);
		await session.handle(req, res);
		// The transport refused to initialize: there is nothing to come back to.
		if (transport.sessionId === undefined) await session.close();
	}

	/** Makes room by closing the session that has been unused for longest, if one has no call running. */
	async #closeOldest(): Promise<boolean> {
		let oldest: Session | undefined;
		for (const session of this.#sessions.values()) {
			if (session.isBusy) continue;
			if (!oldest || session.lastUsedAt < oldest.lastUsedAt) oldest = session;
		}
		await oldest?.close();
		return oldest !== undefined;
	}
}
