import type { z } from "zod";

/** What a client is told about a failed call, also in machine-readable form. */
export interface Failure {
	readonly code: string;
	readonly message: string;
	/** Whether the identical call may succeed later. */
	readonly retryable: boolean;
}

/**
 * A failure that the caller can act on. `code` and `message` go out to the
 * client and its model; `cause` and `details` only go to the log.
 */
export class ToolError extends Error {
	override readonly name = "ToolError";
	readonly code: string;
	readonly retryable: boolean;
	readonly details: Record<string, unknown> | undefined;

	/**
	 * @param code SCREAMING_SNAKE_CASE, stable: clients branch on it.
	 * @param message What is wrong and the way out: allowed values, right format,
	 * limit. No secrets: the model reads it.
	 */
	constructor(
		code: string,
		message: string,
		options: {
			retryable?: boolean;
			cause?: unknown;
			details?: Record<string, unknown>;
		} = {},
	) {
		super(message, { cause: options.cause });
		this.code = code;
		this.retryable = options.retryable ?? false;
		this.details = options.details;
	}

	toFailure(): Failure {
		const { code, message, retryable } = this;
		return { code, message, retryable };
	}
}

/** More than the model needs in order to see what is wrong. */
const maxIssues = 20;
const maxIssueLength = 500;

/** Tells the model what to change about its arguments, field by field. */
export function invalidArguments(
	issues: z.core.$ZodIssue[],
	schema: z.ZodObject,
): ToolError {
	const lines = describeIssues(issues.slice(0, maxIssues));
	if (issues.length > maxIssues) {
		lines.push(`and ${issues.length - maxIssues} more`);
	}
	if (issues.some((issue) => issue.code === "unrecognized_keys")) {
		const fields = Object.keys(schema.shape).join(", ");
		lines.push(`arguments: the fields are ${fields || "none"}`);
	}
	return new ToolError("INVALID_ARGUMENTS", lines.join("; "));
}

/** For each field: where, what was expected, and the allowed values. */
function describeIssues(issues: z.core.$ZodIssue[], parent = ""): string[] {
	return issues.flatMap((issue) => {
		const path = [parent, ...issue.path.map(String)].filter(Boolean).join(".");
		if (issue.code === "invalid_union" && issue.errors.length > 0) {
			const options = issue.errors.map((option) =>
				describeIssues(option, path).join(", "),
			);
			return [options.join(" or ")];
		}
		if (issue.code === "invalid_key" || issue.code === "invalid_element") {
			return describeIssues(issue.issues, path);
		}
		const line = `${path || "arguments"}: ${issue.message}`;
		return [line.slice(0, maxIssueLength)];
	});
}

/** JSON-RPC 2.0, section 5.1 "Error object". */
export const rpcCode = {
	parseError: -32700,
	invalidRequest: -32600,
	methodNotFound: -32601,
	invalidParams: -32602,
	internalError: -32603,
} as const;

/**
 * An error of the protocol, not of a tool: an unknown tool, a malformed call, or
 * anything unexpected. The client receives code, message and data as they are.
 */
export class ProtocolError extends Error {
	override readonly name = "ProtocolError";
	readonly code: number;
	readonly data: Record<string, unknown> | undefined;

	constructor(code: number, message: string, data?: Record<string, unknown>) {
		super(message);
		this.code = code;
		this.data = data;
	}
}

/** Why the server cannot start. Each line of the message is one thing to fix. */
export class StartError extends Error {
	override readonly name = "StartError";
}

/** An error answer, also to what has no id. */
export interface Refusal {
	jsonrpc: "2.0";
	id: string | number | null;
	error: { code: number; message: string };
}

/**
 * The JSON-RPC answer to a message that the protocol's schema refuses. Only a
 * request has an id of the client's that the answer may carry.
 */
export function refuseMessage(message: unknown): Refusal {
	const { jsonrpc, id, method, params } = Object(message);
	const hasId = typeof id === "string" || typeof id === "number";
	const isRequest = hasId && typeof method === "string";
	const error =
		isRequest && jsonrpc === "2.0" && params !== undefined
			? { code: rpcCode.invalidParams, message: "Invalid params" }
			: { code: rpcCode.invalidRequest, message: "Invalid request" };
	return { jsonrpc: "2.0", id: isRequest ? id : null, error };
}
