import type { Response } from "express";

/** JSON-RPC leaves -32000 to -32099 to servers (section 5.1). */
export const serverError = -32000;

/** How long a client may go on sending what has been refused (milliseconds). */
const lingerMs = 1000;

/** Answers with an HTTP status and a JSON-RPC error that belongs to no request. */
export function refuse(
	res: Response,
	status: number,
	message: string,
	code: number = serverError,
): void {
	letFinish(res);
	res
		.status(status)
		.json({ jsonrpc: "2.0", id: null, error: { code, message } });
}

/** A client that is cut off while it sends may never read its answer (RFC 9112, section 9.6). */
function letFinish(res: Response): void {
	const { req } = res;
	if (req.complete || res.shouldKeepAlive) return;
	res.shouldKeepAlive = true;
	const close = () => req.socket.destroySoon();
	req.on("end", close);
	setTimeout(close, lingerMs).unref();
}

/** Answers a method that the resource does not have (RFC 9110, section 15.5.6). */
export function refuseMethod(res: Response, allowed: string): void {
	res.set("Allow", allowed);
	refuse(res, 405, `Method not allowed; allowed: ${allowed}`);
}
