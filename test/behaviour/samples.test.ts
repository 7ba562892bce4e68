import { beforeAll, describe, expect, test } from "vitest";
import { builtProject } from "../support/generated.ts";
import { type Message, StdioServer, startServer } from "../support/stdio-server.ts";

let project: string;
let server: StdioServer;
beforeAll(async () => {
  project = await builtProject({ samples: true, progress: true });
  server = await new StdioServer(project).initialize();
  return () => server.kill();
});

/** Expects a failed result with a code, and returns its text. */
function failure({ result }: Message, code: string, retryable: boolean): string {
  expect(result.isError).toBe(true);
  expect(result._meta["create-mcp-server/error"]).toMatchObject({ code, retryable });
  expect(result.content[0].text).toMatch(new RegExp(`^${code}: `));
  return result.content[0].text;
}

describe("reserve_seat", () => {
  test("A1 is free", async () => {
    const { result } = await server.call("reserve_seat", { seatId: "A1" });
    expect(result.structuredContent).toEqual({ id: "A1", status: "reserved" });
  });

  test("A2 is taken, and may be free later", async () => {
    failure(await server.call("reserve_seat", { seatId: "A2" }), "SEAT_UNAVAILABLE", true);
  });

  test.each(["A3", "Z99", "a1", "nowhere", "__proto__", "42"])("there is no seat %s", async (seatId) => {
    const text = failure(await server.call("reserve_seat", { seatId }), "SEAT_NOT_FOUND", false);
    expect(text).toContain("A1, A2");
  });

  test.each([{}, { seatId: 1 }, { seatId: "" }, { seatId: "A1", extra: 1 }])(
    "%j is refused",
    async (args) => {
      failure(await server.call("reserve_seat", args), "INVALID_ARGUMENTS", false);
    },
  );
});

describe("query_order in memory", () => {
  test("finds an order", async () => {
    const { result } = await server.call("query_order", { orderId: "ORD-1001" });
    expect(result.structuredContent).toEqual({ id: "ORD-1001", status: "shipped", totalCents: 4200 });
  });

  test("says that there is none", async () => {
    const text = failure(await server.call("query_order", { orderId: "ORD-9999" }), "ORDER_NOT_FOUND", false);
    expect(text).toContain("ORD-9999");
  });

  test("names the format that it expects", async () => {
    const text = failure(await server.call("query_order", { orderId: "1001" }), "INVALID_ARGUMENTS", false);
    expect(text).toMatch(/orderId: .*ORD-1001/);
  });
});

describe("batch_translate", () => {
  test("takes about 100 ms a document, and reports a failure for its document only", async () => {
    const from = performance.now();
    const { result } = await server.call("batch_translate", { docIds: ["doc-1", "doc-9", "doc-2", "doc-3"] });
    const took = performance.now() - from;
    expect(took).toBeGreaterThanOrEqual(395);
    expect(took).toBeLessThan(1500);
    expect(result.structuredContent).toEqual({
      translated: [
        { id: "doc-1", text: "Good morning" },
        { id: "doc-2", text: "Good night" },
        { id: "doc-3", text: "Goodbye" },
      ],
      failed: [{ id: "doc-9", code: "DOCUMENT_NOT_FOUND" }],
    });
  });

  test("fails where no document exists, and says which do", async () => {
    const text = failure(
      await server.call("batch_translate", { docIds: ["doc-9"] }),
      "NOTHING_TRANSLATED",
      false,
    );
    expect(text).toContain("doc-1, doc-2, doc-3");
  });

  test("stops when it is cancelled", async () => {
    const own = await startServer(project).initialize();
    const params = { name: "batch_translate", arguments: { docIds: Array(100).fill("doc-1") } };
    own.send({ id: 1, method: "tools/call", params: { ...params, _meta: { progressToken: 1 } } });
    await own.stdout.find((line) => (line.includes("notifications/progress") ? line : undefined), "progress");
    own.send({ method: "notifications/cancelled", params: { requestId: 1 } });
    const { durationMs } = await own.logged({ message: "tool call cancelled", requestId: 1 });
    expect(durationMs).toBeLessThan(3000);
  });

  test.each([[[]], [Array(101).fill("doc-1")], [[""]], ["doc-1"]])("%j is refused", async (docIds) => {
    failure(await server.call("batch_translate", { docIds }), "INVALID_ARGUMENTS", false);
  });
});
