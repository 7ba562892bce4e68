import type { RequestHandler } from "express";
import { refuseMessage } from "../errors.js";
import { isWellFormed } from "../server.js";
import { refuse } from "./answers.js";

export const refuseOtherTypes: RequestHandler = (req, res, next) => {
	// Without a body, is() says null: then that is what is wrong, not the type.
	if (req.method !== "POST" || req.is("application/json") !== false) next();
	else refuse(res, 415, "The Content-Type must be application/json");
};

/** The SDK would call such messages unparsable and drop their id. */
export const refuseMalformed: RequestHandler = (req, res, next) => {
	const { body, method } = req;
	const messages: unknown[] = body === undefined ? [] : [body].flat();
	const isEmpty = messages.length === 0 && method === "POST";
	if (!isEmpty && messages.every(isWellFormed)) {
		next();
		return;
	}
	const answer = refuseMessage(body);
	res.status(answer.id === null ? 400 : 200).json(answer);
};
