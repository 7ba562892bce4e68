import { randomUUID } from "node:crypto";
import type { RequestHandler } from "express";
import type { Logger } from "../logger.js";

/**
 * Logs each request in one line when it has ended, under an id that the client
 * is told too. Queries are left out: they can carry secrets.
 */
export function accessLog(log: Logger): RequestHandler {
	return (req, res, next) => {
		const startedAt = performance.now();
		const { ip, method, path } = req;
		const httpRequestId = randomUUID();
		res.set("X-Request-Id", httpRequestId);
		res.on("close", () => {
			log.info(
				{
					httpRequestId,
					ip,
					method,
					path,
					status: res.statusCode,
					durationMs: Math.round(performance.now() - startedAt),
					complete: res.writableFinished,
					caller: res.locals.caller,
				},
				"request",
			);
		});
		next();
	};
}
