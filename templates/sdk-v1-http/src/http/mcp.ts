import { config } from "../config.js";
import type { Logger } from "../logger.js";
import type { Server } from "../server.js";
import type { McpEndpoint } from "./app.js";
import { Sessions } from "./sessions.js";
import { stateless } from "./stateless.js";

export function createMcp(
	createServer: () => Server,
	log: Logger,
): McpEndpoint {
	if (config().MCP_STATELESS) {
		return {
			handle: stateless(createServer),
			methods: ["POST"],
			close: async () => {},
		};
	}
	const sessions = new Sessions(createServer, log);
	return {
		handle: sessions.handle,
		methods: ["GET", "POST", "DELETE"],
		close: () => sessions.closeAll(),
	};
}
