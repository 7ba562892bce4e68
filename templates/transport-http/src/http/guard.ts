import type { RequestHandler } from "express";
import { config } from "../config.js";
import { refuse } from "./answers.js";

const thisMachine = ["localhost", "127.0.0.1", "[::1]"];
const everyAddress = ["0.0.0.0", "::"];

/**
 * Refuses requests that a foreign web page could have made: a page can point its
 * own name at this machine (DNS rebinding), and then Host or Origin is foreign.
 */
export function guard(): RequestHandler {
	const { HOST, MCP_ALLOWED_HOSTS, MCP_ALLOWED_ORIGINS } = config();
	const own = everyAddress.includes(HOST)
		? []
		: [nameOf(`http://${bracketed(HOST)}`)];
	const hosts = new Set([
		...thisMachine,
		...own,
		...MCP_ALLOWED_HOSTS.map((host) => host.toLowerCase()),
	]);
	const origins = new Set(MCP_ALLOWED_ORIGINS);

	return (req, res, next) => {
		const { host, origin } = req.headers;
		if (req.headersDistinct.host?.[1] !== undefined) {
			refuse(res, 400, "There is more than one Host header");
		} else if (!hosts.has(nameOf(`http://${host}`) ?? "")) {
			refuse(res, 403, "This Host is not allowed; add it to MCP_ALLOWED_HOSTS");
		} else if (
			origin !== undefined &&
			!origins.has(origin) &&
			!thisMachine.includes(nameOf(origin) ?? "")
		) {
			refuse(
				res,
				403,
				"This Origin is not allowed; add it to MCP_ALLOWED_ORIGINS",
			);
		} else {
			next();
		}
	};
}

/** The host of an origin; of what has more to it, such as `a@host`, nothing. */
function nameOf(origin: string): string | undefined {
	if (!URL.canParse(origin)) return undefined;
	const { href, protocol, host, hostname } = new URL(origin);
	return href === `${protocol}//${host}/` ? hostname : undefined;
}

function bracketed(address: string): string {
	return address.includes(":") ? `[${address}]` : address;
}
