import type { RequestHandler } from "express";

/**
 * A call ends when its client goes. Node tells only the response whose turn it is;
 * those that wait behind it on the connection (pipelining) are told here.
 */
export const passOnDrop: RequestHandler = (req, res, next) => {
	if (!res.socket) {
		const drop = () => {
			res.destroy();
			res.emit("close");
		};
		req.socket.setMaxListeners(0).once("close", drop);
		res.once("socket", () => req.socket.off("close", drop));
	}
	next();
};

/** The client may go while its body is unpacked: nothing would end its call then. */
export const leaveIfGone: RequestHandler = (_req, res, next) => {
	if (!res.destroyed) next();
};

/** The SDK keeps a connection that its client asked to close (RFC 9112, section 9.6). */
export const closeWhenAsked: RequestHandler = (req, res, next) => {
	if (!res.shouldKeepAlive) res.on("finish", () => req.socket.destroySoon());
	next();
};
