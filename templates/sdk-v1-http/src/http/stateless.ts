import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { RequestHandler } from "express";
import { config } from "../config.js";
import type { Server } from "../server.js";

/**
 * Serves each request by a server of its own, so that any replica can answer any
 * request. There is no session that GET or DELETE could belong to.
 */
export function stateless(createServer: () => Server): RequestHandler {
	const { MCP_JSON_RESPONSE } = config();
	return async (req, res) => {
		const server = createServer();
		const transport = new StreamableHTTPServerTransport({
			sessionIdGenerator: undefined,
			enableJsonResponse: MCP_JSON_RESPONSE,
		});
		// Also when the client has gone: closing fires the signal of its call.
		res.on("close", () => void server.close());
		await server.connect(transport);
		await transport.handleRequest(req, res, req.body);
	};
}
