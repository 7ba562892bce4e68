import { type Refusal, refuseMessage, rpcCode } from "./errors.js";
import type { Logger } from "./logger.js";
import type { isWellFormed, JSONRPCMessage, Transport } from "./server.js";

// Stdout carries the protocol and nothing else, so it is taken over before the
// tools and what they import are loaded: what they print goes to stderr.
const writeToClient = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);
process.stdout.end = () => process.stdout;
// A host that has closed its end of the log must not end the server.
process.stderr.on("error", () => {});

/** How long running calls may go on after the end of input (milliseconds). */
const graceMs = 1500;

/** How long aborted calls may take to clean up (milliseconds). */
const abortMs = 100;

/** After this, nothing is waited for any more (milliseconds). */
const exitMs = 1800;

/** The longest message (characters); a client that sends more is cut off. */
const maxMessageLength = 10_000_000;

/**
 * Serves one client over stdin and stdout, and ends the process with 0 when the
 * client has gone: at the end of input, on SIGINT and on SIGTERM, whatever timers
 * and sockets are still alive. A second signal ends it at once.
 *
 * @throws StartError when a tool cannot be described to clients.
 */
export async function serveStdio(log: Logger): Promise<void> {
	// Not imported above: it loads the tools, and stdout must be taken over before.
	const { callsSettled, createServerFactory, isWellFormed, serveConnection } =
		await import("./server.js");
	const createServer = createServerFactory(log);

	let stopping = false;
	async function stop(reason: string): Promise<void> {
		if (stopping) return;
		stopping = true;
		setTimeout(() => process.exit(0), exitMs);
		log.info({ reason }, "stopping");
		// No new work.
		process.stdin.pause();
		// What has just been read starts to run within this turn of the event loop.
		await new Promise(setImmediate);
		await callsSettled(graceMs);
		await connection.close();
		await callsSettled(abortMs);
		await transport.flushed();
		process.exit(0);
	}

	process.stdin.once("end", () => stop("end of input"));
	process.stdin.once("close", () => stop("end of input"));
	process.stdin.once("error", () => stop("end of input"));
	process.stdout.on("error", () => process.exit(0));
	for (const signal of ["SIGINT", "SIGTERM"] as const) {
		process.on(signal, () => {
			if (stopping) process.exit(0);
			void stop(signal);
		});
	}

	const transport = new StdioTransport(isWellFormed, () => {
		void stop("connection closed");
	});
	const connection = await serveConnection(createServer, transport, (error) => {
		log.warn({ error }, "bad message");
	});
	log.info("serving on stdio");
}

/**
 * The SDK's own stdio transport is silent about a line that it cannot read, so
 * that the client waits for ever; this one answers it.
 */
class StdioTransport implements Transport {
	onmessage?: (message: JSONRPCMessage) => void;
	onerror?: (error: Error) => void;
	onclose?: () => void;
	readonly #isWellFormed: typeof isWellFormed;
	readonly #onEnd: () => void;
	#unread = "";
	#written: Promise<void> = Promise.resolve();

	/** @param onEnd called when the connection is closed from this side. */
	constructor(check: typeof isWellFormed, onEnd: () => void) {
		this.#isWellFormed = check;
		this.#onEnd = onEnd;
	}

	async start(): Promise<void> {
		process.stdin.setEncoding("utf8");
		process.stdin.on("data", (chunk: string) => this.#read(chunk));
	}

	send(message: JSONRPCMessage): Promise<void> {
		return this.#write(message);
	}

	async close(): Promise<void> {
		process.stdin.pause();
		this.onclose?.();
		this.#onEnd();
	}

	/** Resolves when everything that was sent has left the process. */
	flushed(): Promise<void> {
		return this.#written;
	}

	#read(chunk: string): void {
		const lines = chunk.split("\n");
		lines[0] = this.#unread + lines[0];
		this.#unread = lines.pop() ?? "";
		for (const line of lines) {
			if (line.trim() !== "") this.#receive(line);
		}
		if (this.#unread.length > maxMessageLength) {
			this.#unread = "";
			const error = {
				code: rpcCode.invalidRequest,
				message: `Message too long: at most ${maxMessageLength} characters`,
			};
			this.#refuse({ jsonrpc: "2.0", id: null, error });
			void this.close();
		}
	}

	#receive(line: string): void {
		let value: unknown;
		try {
			value = JSON.parse(line);
		} catch {
			const error = { code: rpcCode.parseError, message: "Parse error" };
			this.#refuse({ jsonrpc: "2.0", id: null, error });
			return;
		}
		if (this.#isWellFormed(value)) {
			this.onmessage?.(value);
		} else if (isNotification(value)) {
			// Notifications are never answered (JSON-RPC 2.0, section 4.1).
			this.onerror?.(new Error("Invalid notification"));
		} else {
			this.#refuse(refuseMessage(value));
		}
	}

	#refuse(answer: Refusal): void {
		this.onerror?.(new Error(answer.error.message));
		void this.#write(answer);
	}

	#write(message: unknown): Promise<void> {
		this.#written = new Promise((resolve) => {
			writeToClient(`${JSON.stringify(message)}\n`, () => resolve());
		});
		return this.#written;
	}
}

function isNotification(message: unknown): boolean {
	const { id, method } = Object(message);
	return typeof method === "string" && id === undefined;
}
