import { randomUUID } from "node:crypto";
import type { RequestHandler } from "express";
import type { Logger } from "../logger.js";

/** Logs each request in one line when it has ended. Queries are left out: they can carry secrets. */
export function accessLog(log: Logger): RequestHandler {
	return (req, res, next) => {
		const startedAt = performance.now();
		const { method, path } = req;
		res.on("close", () => {
			log.info(
				{
					requestId: randomUUID(),
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
