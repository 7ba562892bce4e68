import { afterAll, beforeAll, expect, test } from "vitest";
import { connect, type TestClient } from "../../../test/client.js";

let client: TestClient;
beforeAll(async () => {
	client = await connect();
});
afterAll(() => client.close());

test("success: a free seat is reserved", async () => {
	const outcome = await client.call("reserve_seat", { seatId: "A1" });
	expect(outcome).toEqual({ ok: true, data: { id: "A1", status: "reserved" } });
});

test("business failure: a taken seat may be free later", async () => {
	const outcome = await client.call("reserve_seat", { seatId: "A2" });
	expect(outcome).toMatchObject({
		ok: false,
		code: "SEAT_UNAVAILABLE",
		retryable: true,
		protocol: false,
	});
});

test("protocol error: arguments that are no object", async () => {
	const outcome = await client.call("reserve_seat", ["A1"]);
	expect(outcome).toMatchObject({ ok: false, code: "-32602", protocol: true });
});
