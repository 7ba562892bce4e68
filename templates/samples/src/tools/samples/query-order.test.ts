import { afterAll, beforeAll, expect, test } from "vitest";
import { connect, type TestClient } from "../../../test/client.js";

let client: TestClient;
beforeAll(async () => {
	client = await connect();
});
afterAll(() => client.close());

test("success: an order is found", async () => {
	const outcome = await client.call("query_order", { orderId: "ORD-1001" });
	expect(outcome).toEqual({
		ok: true,
		data: { id: "ORD-1001", status: "shipped", totalCents: 4200 },
	});
});

test("business failure: there is no such order", async () => {
	const outcome = await client.call("query_order", { orderId: "ORD-9999" });
	expect(outcome).toMatchObject({
		ok: false,
		code: "ORDER_NOT_FOUND",
		retryable: false,
		protocol: false,
	});
});

test("protocol error: arguments that are no object", async () => {
	const outcome = await client.call("query_order", "ORD-1001");
	expect(outcome).toMatchObject({ ok: false, code: "-32602", protocol: true });
});
