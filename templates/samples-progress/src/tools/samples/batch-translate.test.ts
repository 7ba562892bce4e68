import { afterAll, beforeAll, expect, test } from "vitest";
import { connect, type TestClient } from "../../../test/client.js";
import type { ToolContext } from "../../types.js";
import { batchTranslateTool } from "./batch-translate.js";

let client: TestClient;
beforeAll(async () => {
	client = await connect();
});
afterAll(() => client.close());

test("success: progress rises, one bad document fails alone", async () => {
	const updates: number[] = [];
	const outcome = await client.call(
		"batch_translate",
		{ docIds: ["doc-1", "doc-7", "doc-3"] },
		{ onprogress: ({ progress }) => updates.push(progress) },
	);
	expect(outcome).toEqual({
		ok: true,
		data: {
			translated: [
				{ id: "doc-1", text: "Good morning" },
				{ id: "doc-3", text: "Goodbye" },
			],
			failed: [{ id: "doc-7", code: "DOCUMENT_NOT_FOUND" }],
		},
	});
	expect(updates).toEqual([...new Set(updates)].sort((a, b) => a - b));
	expect(updates.at(-1)).toBe(3);
});

test("business failure: no document exists", async () => {
	const outcome = await client.call("batch_translate", { docIds: ["doc-7"] });
	expect(outcome).toMatchObject({
		ok: false,
		code: "NOTHING_TRANSLATED",
		retryable: false,
		protocol: false,
	});
});

test("protocol error: arguments that are no object", async () => {
	const outcome = await client.call("batch_translate", ["doc-1"]);
	expect(outcome).toMatchObject({ ok: false, code: "-32602", protocol: true });
});

test("cancellation: the handler stops at once", async () => {
	const cancel = new AbortController();
	const context = { signal: cancel.signal, progress: () => cancel.abort() };
	const call = batchTranslateTool.handler(
		{ docIds: Array(100).fill("doc-1") },
		context as unknown as ToolContext,
	);
	await expect(call).rejects.toMatchObject({ name: "AbortError" });
});
