import {
	createServer as createHttpServer,
	type Server as HttpServer,
} from "node:http";
import type { AddressInfo } from "node:net";
import { config } from "../config.js";
import { StartError } from "../errors.js";
import type { Logger } from "../logger.js";
import { callsSettled, createServerFactory } from "../server.js";
import { createApp } from "./app.js";
import { createMcp } from "./mcp.js";

/**
 * How long an unused connection stays open (milliseconds). Proxies keep theirs
 * for up to 60 s; if the server closed first, a request on its way would be lost.
 */
const keepAliveMs = 65_000;

/** How long finished answers may take to leave the process (milliseconds). */
const flushMs = 1000;

/** How long aborted calls may take to clean up (milliseconds). */
const abortMs = 100;

/**
 * Serves clients over Streamable HTTP until SIGTERM or SIGINT. Running calls then
 * get time to finish; a second signal ends the process at once.
 *
 * @throws StartError when the address cannot be listened on, or a tool cannot be
 * described to clients.
 */
export async function serveHttp(log: Logger): Promise<void> {
	const { MCP_REQUEST_TIMEOUT_MS, MCP_SHUTDOWN_MS } = config();
	const mcp = createMcp(createServerFactory(log), log);
	let draining = false;
	const app = createApp({
		mcp,
		isDraining: () => draining,
		log,
	});
	const server = createHttpServer(
		{
			// A client that sends half a request and waits is cut off.
			requestTimeout: MCP_REQUEST_TIMEOUT_MS,
			headersTimeout: MCP_REQUEST_TIMEOUT_MS,
			connectionsCheckingInterval: Math.min(1000, MCP_REQUEST_TIMEOUT_MS),
			keepAliveTimeout: keepAliveMs,
		},
		app,
	);
	await listen(server);
	log.info({ url: urlOf(server) }, "listening");

	async function stop(signal: string): Promise<void> {
		if (draining) process.exit(0);
		// Still listening, so that a load balancer can see it in /health.
		draining = true;
		log.info({ signal }, "stopping");
		await callsSettled(MCP_SHUTDOWN_MS);
		await mcp.close();
		const closed = new Promise((resolve) => server.close(resolve));
		setTimeout(() => server.closeAllConnections(), flushMs);
		await closed;
		await callsSettled(abortMs);
		process.exit(0);
	}
	process.on("SIGTERM", stop);
	process.on("SIGINT", stop);
}

function listen(server: HttpServer): Promise<void> {
	const { HOST, PORT } = config();
	return new Promise((resolve, reject) => {
		server.once("error", (error: NodeJS.ErrnoException) => {
			reject(
				new StartError(
					`PORT: cannot listen on port ${PORT} of ${HOST}: ${reason(error)}`,
				),
			);
		});
		server.listen(PORT, HOST, resolve);
	});
}

function reason({ code, message }: NodeJS.ErrnoException): string {
	if (code === "EADDRINUSE") return "it is in use; choose another port";
	if (code === "EACCES") return "permission denied; choose a port above 1023";
	if (code === "EADDRNOTAVAIL") return "this machine has no such address";
	return message;
}

function urlOf(server: HttpServer): string {
	const { address, family, port } = server.address() as AddressInfo;
	return `http://${family === "IPv6" ? `[${address}]` : address}:${port}/mcp`;
}
