import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { ToolError } from "../../errors.js";
import { defineTool } from "../../types.js";

const documents = new Map([
	["doc-1", "Guten Morgen"],
	["doc-2", "Gute Nacht"],
	["doc-3", "Auf Wiedersehen"],
]);

const dictionary = new Map([
	["Guten Morgen", "Good morning"],
	["Gute Nacht", "Good night"],
	["Auf Wiedersehen", "Goodbye"],
]);

/** How long one document takes (milliseconds). */
const workMs = 100;

export const batchTranslateTool = defineTool({
	name: "batch_translate",
	title: "Translate documents",
	description:
		"Translates up to 100 documents into English. A document that cannot be translated is reported under failed, and the others are translated all the same.",
	inputSchema: z.strictObject({
		docIds: z
			.array(z.string().min(1).max(64))
			.min(1)
			.max(100)
			.describe("Ids of documents, as in doc-1"),
	}),
	outputSchema: z.object({
		translated: z.array(z.object({ id: z.string(), text: z.string() })),
		failed: z.array(z.object({ id: z.string(), code: z.string() })),
	}),
	annotations: {
		readOnlyHint: true,
		destructiveHint: false,
		idempotentHint: true,
		openWorldHint: false,
	},
	async handler({ docIds }, { progress, signal }) {
		const translated: { id: string; text: string }[] = [];
		const failed: { id: string; code: string }[] = [];
		for (const [index, id] of docIds.entries()) {
			// Handing the signal on ends the batch as soon as the client cancels.
			await sleep(workMs, undefined, { signal });
			const text = dictionary.get(documents.get(id) ?? "");
			if (text) translated.push({ id, text });
			else failed.push({ id, code: "DOCUMENT_NOT_FOUND" });
			progress({
				progress: index + 1,
				total: docIds.length,
				message: `${index + 1} of ${docIds.length} documents`,
			});
		}
		if (translated.length === 0) {
			throw new ToolError(
				"NOTHING_TRANSLATED",
				`None of the documents exists. There are ${[...documents.keys()].join(", ")}.`,
			);
		}
		return { translated, failed };
	},
});
