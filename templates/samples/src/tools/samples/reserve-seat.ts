import { z } from "zod";
import { ToolError } from "../../errors.js";
import { defineTool } from "../../types.js";

/** A finite stock. A real tool would keep it, and what it reserves, in a database. */
const seats = new Map([
	["A1", "free"],
	["A2", "taken"],
]);

export const reserveSeatTool = defineTool({
	name: "reserve_seat",
	title: "Reserve a seat",
	description: "Reserves one seat by its id, such as A1.",
	inputSchema: z.strictObject({
		seatId: z.string().min(1).max(10).describe("Row and number, as in A1"),
	}),
	outputSchema: z.object({
		id: z.string(),
		status: z.literal("reserved"),
	}),
	annotations: {
		readOnlyHint: false,
		destructiveHint: false,
		idempotentHint: true,
		openWorldHint: false,
	},
	async handler({ seatId }) {
		const status = seats.get(seatId);
		if (status === undefined) {
			throw new ToolError(
				"SEAT_NOT_FOUND",
				`There is no seat ${seatId}. The seats are ${[...seats.keys()].join(", ")}.`,
			);
		}
		if (status === "taken") {
			throw new ToolError(
				"SEAT_UNAVAILABLE",
				`Seat ${seatId} is taken. Try another seat, or this one later.`,
				{ retryable: true },
			);
		}
		return { id: seatId, status: "reserved" as const };
	},
});
