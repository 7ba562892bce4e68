import { createHash, timingSafeEqual } from "node:crypto";
import type { Request, RequestHandler } from "express";
import { config } from "../config.js";
import type { AuthInfo } from "../server.js";
import { refuse } from "./answers.js";

/**
 * Lets only requests with a known token pass. The token's name is what the rest
 * of the server, and the log, knows the caller by.
 */
export const authenticate: RequestHandler = (req, res, next) => {
	const caller = callerOf(req);
	if (caller === undefined) {
		const problem = req.headers.authorization ? ', error="invalid_token"' : "";
		res.set("WWW-Authenticate", `Bearer realm="mcp"${problem}`);
		refuse(res, 401, "A bearer token is needed: Authorization: Bearer <token>");
		return;
	}
	res.locals.caller = caller;
	const auth: AuthInfo = { token: "", clientId: caller, scopes: [] };
	Object.assign(req, { auth });
	next();
};

/** The name of the token that a request carries, or undefined (RFC 6750, section 2.1). */
export function callerOf(req: Request): string | undefined {
	const sent = /^Bearer +(\S+)$/i.exec(req.headers.authorization ?? "")?.[1];
	if (sent === undefined) return undefined;
	const sentHash = hash(sent);
	// Every token is compared, in constant time: how long it takes tells nothing.
	const matches = knownTokens().filter((known) =>
		timingSafeEqual(known.hash, sentHash),
	);
	return matches[0]?.name;
}

interface KnownToken {
	readonly name: string;
	readonly hash: Buffer;
}

let hashed: KnownToken[] | undefined;

/** The configured tokens, hashed once. Hashes all have the length that the comparison needs. */
function knownTokens(): KnownToken[] {
	hashed ??= config().MCP_AUTH_TOKENS.map(({ name, token }) => {
		return { name, hash: hash(token) };
	});
	return hashed;
}

function hash(token: string): Buffer {
	return createHash("sha256").update(token).digest();
}
