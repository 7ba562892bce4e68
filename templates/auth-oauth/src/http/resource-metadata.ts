import type { RequestHandler } from "express";
import { config } from "../config.js";
import { tools } from "../tools/index.js";
import type { Tool } from "../types.js";
import { refuseMethod } from "./answers.js";

const wellKnown = "/.well-known/oauth-protected-resource";

/** Where clients find out which authorization server to go to (RFC 9728, section 3.1). */
export function metadataUrl(): string {
	const { origin, pathname } = new URL(config().MCP_PUBLIC_URL);
	return `${origin}${wellKnown}${pathname === "/" ? "" : pathname}`;
}

/**
 * Answers with what RFC 9728 calls protected resource metadata: under the path
 * that belongs to the public URL, and under the root, where some clients look.
 */
export function resourceMetadata(): RequestHandler {
	const { MCP_OAUTH_ISSUER, MCP_OAUTH_SCOPES, MCP_PUBLIC_URL } = config();
	const paths = [wellKnown, new URL(metadataUrl()).pathname];
	const toolScopes = (tools as readonly Tool[]).flatMap((t) => t.scopes ?? []);
	const metadata = {
		// Byte for byte what is configured: clients compare it so.
		resource: MCP_PUBLIC_URL,
		authorization_servers: [MCP_OAUTH_ISSUER],
		scopes_supported: [...new Set([...MCP_OAUTH_SCOPES, ...toolScopes])],
		bearer_methods_supported: ["header"],
	};
	return (req, res, next) => {
		if (!paths.includes(req.path)) next();
		else if (req.method !== "GET" && req.method !== "HEAD") {
			refuseMethod(res, "GET, HEAD");
		} else {
			res.set("Cache-Control", "public, max-age=300").json(metadata);
		}
	};
}
