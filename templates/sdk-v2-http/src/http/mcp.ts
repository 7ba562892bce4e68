import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import type { Logger } from "../logger.js";
import type { Server } from "../server.js";
import type { McpEndpoint } from "./app.js";

/**
 * Serves each request by a server of its own, whatever revision of the protocol
 * its client speaks, so that any replica can answer any request.
 */
export function createMcp(
	createServer: () => Server,
	log: Logger,
): McpEndpoint {
	const onerror = (error: Error) => log.warn({ error }, "bad message");
	const handler = createMcpHandler(createServer, { onerror });
	const handle = toNodeHandler(handler, { onerror });
	return {
		handle: (req, res) => handle(req, res, req.body),
		// There are no sessions that GET or DELETE could belong to.
		methods: ["POST"],
		close: () => handler.close(),
	};
}
