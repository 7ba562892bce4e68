import type { Request, RequestHandler, Response } from "express";
import { config } from "../config.js";
import type { Logger } from "../logger.js";
import type { AuthInfo } from "../server.js";
import { tools } from "../tools/index.js";
import type { Tool } from "../types.js";
import {
	type Grant,
	KeysUnavailable,
	verifyAccessToken,
} from "./access-token.js";
import { refuse } from "./answers.js";
import { metadataUrl } from "./resource-metadata.js";

/** What a timer can count (milliseconds): it would fire at once for more. */
const longestTimerMs = 2 ** 31 - 1;

/**
 * Lets only requests with a valid access token pass. Its subject is what the rest
 * of the server, and the log, knows the caller by.
 */
export function authenticate(log: Logger): RequestHandler {
	return async (req, res, next) => {
		const token = bearerToken(req);
		if (token === undefined) {
			challenge(res, 401, "An access token is needed", {
				scope: config().MCP_OAUTH_SCOPES.join(" "),
			});
			return;
		}
		let grant: Grant;
		try {
			grant = await verifyAccessToken(token);
		} catch (error) {
			if (error instanceof KeysUnavailable) {
				log.error({ error }, "access token not verified");
				res.set("Retry-After", "5");
				refuse(res, 503, "Access tokens cannot be verified now; try again");
				return;
			}
			// The reason is for the log: it would tell a forger what to do better.
			log.warn({ reason: String(error) }, "access token refused");
			challenge(res, 401, "The access token is not valid", {
				error: "invalid_token",
				scope: config().MCP_OAUTH_SCOPES.join(" "),
			});
			return;
		}
		const { caller, scopes, expiresAt } = grant;
		res.locals.caller = caller;
		const auth: AuthInfo = { token: "", clientId: caller, scopes, expiresAt };
		Object.assign(req, { auth });
		if (req.method === "GET") endWithToken(res, expiresAt);
		next();
	};
}

/**
 * Lets only requests pass whose token grants what the server and the called tools
 * need. The answer names all that is needed, so that the client can ask for it.
 */
export const authorize: RequestHandler = (req, res, next) => {
	const { auth } = req as Request & { auth?: AuthInfo };
	const needed = new Set([
		...config().MCP_OAUTH_SCOPES,
		...[req.body ?? []].flat().flatMap(scopesOfCall),
	]);
	const missing = [...needed].filter((scope) => !auth?.scopes.includes(scope));
	if (missing.length === 0) {
		next();
		return;
	}
	challenge(res, 403, `The access token lacks the scope ${missing.join(" ")}`, {
		error: "insufficient_scope",
		scope: [...needed].join(" "),
	});
};

/** A stream is open for longer than a token is good: clients come back with another. */
function endWithToken(res: Response, expiresAt: number): void {
	const restMs = Math.min(expiresAt * 1000 - Date.now(), longestTimerMs);
	const timer = setTimeout(() => res.end(), restMs).unref();
	res.on("close", () => clearTimeout(timer));
}

/** The subject of a request's token, or undefined where it has no valid one. */
export async function callerOf(req: Request): Promise<string | undefined> {
	const token = bearerToken(req);
	if (token === undefined) return undefined;
	const grant = await verifyAccessToken(token).catch(() => undefined);
	return grant?.caller;
}

/** Only from the header (RFC 6750, section 2.1): addresses end up in logs. */
function bearerToken(req: Request): string | undefined {
	return /^Bearer +(\S+)$/i.exec(req.headers.authorization ?? "")?.[1];
}

function scopesOfCall(message: {
	method?: string;
	params?: { name?: unknown };
}): readonly string[] {
	if (message.method !== "tools/call") return [];
	const all: readonly Tool[] = tools;
	return all.find((tool) => tool.name === message.params?.name)?.scopes ?? [];
}

/** Says where and with which scopes to get a token (RFC 9728, section 5.1). */
function challenge(
	res: Response,
	status: 401 | 403,
	message: string,
	parameters: { error?: string; scope: string },
): void {
	const all = Object.entries({
		...parameters,
		resource_metadata: metadataUrl(),
	})
		.filter(([, value]) => value !== "")
		.map(([name, value]) => `${name}="${value}"`);
	res.set("WWW-Authenticate", `Bearer ${all.join(", ")}`);
	refuse(res, status, message);
}
