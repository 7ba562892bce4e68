import type { OutgoingHttpHeaders } from "node:http";
import { gzipSync } from "node:zlib";
import { type Answer, Client, inParallel, type Sent } from "./client.ts";
import type { Target } from "./target.ts";

/** A request that is wrong in one way, and the outcomes that are right for it. */
type Kind = readonly [what: string, sent: Sent, outcomes: string];

const message = (fields: object) => JSON.stringify({ jsonrpc: "2.0", id: 1, ...fields });
const call = (name: unknown, args: unknown) =>
  message({ method: "tools/call", params: { name, arguments: args } });
const list = message({ method: "tools/list" });
const body = (text: string | Buffer): Sent => ({ body: text });
const headed = (headers: OutgoingHttpHeaders, text: string | Buffer = list): Sent => ({
  headers,
  body: text,
});
const deep = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
const seat = (json: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"reserve_seat","arguments":${json}}}`;

const kinds: readonly Kind[] = [
  ["half of a message", body('{"jsonrpc":"2.0","id":1,'), "400 -32700"],
  ["XML", body("<methodCall/>"), "400 -32700"],
  ["a body of no bytes", body(""), "400 -32600"],
  ["NUL between tokens", body('{"jsonrpc":"2.0",\0"id":1}'), "400 -32700"],
  ["NUL in a string", body(seat('{"seatId":"A1\0"}')), "400 -32700"],
  ["NUL, escaped", body(seat('{"seatId":"\\u0000"}')), "200 SEAT_NOT_FOUND"],
  ["bytes that are no UTF-8", body(Buffer.from([0xff, 0xfe, 0xc0, 0x80])), "400 -32700"],
  [
    "a string that is no UTF-8",
    body(Buffer.from(seat('{"seatId":"\xff\xc0"}'), "latin1")),
    "200 SEAT_NOT_FOUND",
  ],
  ["half of a surrogate pair", body(seat('{"seatId":"\\ud800"}')), "200 SEAT_NOT_FOUND"],
  ["another charset", headed({ "content-type": "application/json; charset=latin1" }), "415 -32600"],
  ["wrong types", body('{"jsonrpc":2,"id":{},"method":7,"params":"x"}'), "400 -32600"],
  ["a text", body('"tools/list"'), "400 -32600"],
  ["null", body("null"), "400 -32600"],
  ["a number", body("42"), "400 -32600"],
  ["an empty object", body("{}"), "400 -32600"],
  ["10,000 levels, never closed", body("[".repeat(10_000)), "400 -32700"],
  ["10,000 levels", body(deep(10_000)), "400 -32600"],
  ["10,000 levels as an argument", body(seat(`{"seatId":${deep(10_000)}}`)), "200 INVALID_ARGUMENTS"],
  ["10,000 levels as an id", body(`{"jsonrpc":"2.0","id":${deep(10_000)},"method":"ping"}`), "400 -32600"],
  [
    "a text of 900 kB as an argument",
    body(call("reserve_seat", { seatId: "x".repeat(900_000) })),
    "200 INVALID_ARGUMENTS",
  ],
  ["a text of 900 kB as a name", body(call("x".repeat(900_000), {})), "200 -32602"],
  [
    "5,000 keys too many",
    body(call("reserve_seat", Object.fromEntries(Array(5000).entries()))),
    "200 INVALID_ARGUMENTS",
  ],
  ["an id of 100 kB", body(message({ id: "i".repeat(100_000), method: "none" })), "200 -32601"],
  ["an infinite id", body('{"jsonrpc":"2.0","id":1e999,"method":"tools/list"}'), "200 -32600"],
  ["no id and no method", body('{"jsonrpc":"2.0","params":{}}'), "400 -32600"],
  ["garbage in a batch", body('[1,"a",{},null,[]]'), "400 -32600"],
  ["an empty batch", body("[]"), "400 -32600"],
  ["a batch beyond bounds", body(`[${Array(5000).fill(list).join()}]`), "400 -32600"],
  ["keys twice", body(seat('{"seatId":"A1","seatId":"Z9"}')), "200 SEAT_NOT_FOUND"],
  [
    "__proto__ as an argument",
    body(seat('{"seatId":"A1","__proto__":{"polluted":1}}')),
    "200 INVALID_ARGUMENTS",
  ],
  ["__proto__ as a message", body('{"__proto__":{"jsonrpc":"2.0","id":1,"method":"ping"}}'), "400 -32600"],
  ["__proto__ as a tool", body(call("__proto__", {})), "200 -32602"],
  ["constructor as a method", body(message({ method: "constructor" })), "200 -32601"],
  ["a method nobody knows", body(message({ method: "../../etc/passwd" })), "200 -32601"],
  ["a call without a name", body(call(undefined, {})), "200 -32602"],
  ["arguments in a list", body(call("reserve_seat", ["A1"])), "200 -32602"],
  ["params in a list", body(message({ method: "tools/call", params: ["reserve_seat"] })), "200 -32602"],
  ["a cursor nobody gave", body(message({ method: "tools/list", params: { cursor: "x" } })), "200 -32602"],
  [
    "a progress token that is none",
    body(message({ method: "tools/call", params: { name: "reserve_seat", _meta: { progressToken: {} } } })),
    "200 -32602",
  ],
  ["an answer nobody asked for", body('{"jsonrpc":"2.0","id":99,"result":{}}'), "202 nothing"],
  [
    "a cancellation of nothing",
    body('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}'),
    "202 nothing",
  ],
  ["PUT", { method: "PUT", body: list }, "405 -32000"],
  ["PROPFIND", { method: "PROPFIND", body: list }, "405 -32000"],
  ["no content type", headed({ "content-type": undefined }), "415 -32000"],
  ["text/plain", headed({ "content-type": "text/plain" }), "415 -32000"],
  ["a form", headed({ "content-type": "multipart/form-data; boundary=x" }), "415 -32000"],
  ["what is not gzip", headed({ "content-encoding": "gzip" }), "400 -32600"],
  ["an encoding nobody knows", headed({ "content-encoding": "x-none" }), "415 -32600"],
  [
    "20 MB, packed into 20 kB",
    headed({ "content-encoding": "gzip" }, gzipSync(Buffer.alloc(20_000_000, " "))),
    "413 -32000",
  ],
  ["an answer in XML, please", headed({ accept: "text/xml" }), "406 -32000"],
  ["a protocol nobody knows", headed({ "mcp-protocol-version": "1999-01-01" }), "400 -32000"],
  ["a foreign host", headed({ host: "evil.example" }), "403 -32000"],
  ["a foreign origin", headed({ origin: "https://evil.example" }), "403 -32000"],
  ["a path nobody knows", { path: "/..%2f..%2fetc/passwd", body: list }, "404 nothing"],
  ["a path that is none", { path: "/%ff", body: list }, "404 nothing"],
];

/** How an answer went: its status, and the code of the error in it. */
function outcomeOf({ status, messages }: Answer): string {
  const last = messages.at(-1);
  const failure = last?.result?._meta?.["create-mcp-server/error"]?.code;
  return `${status} ${last?.error?.code ?? failure ?? (last?.result ? "a result" : "nothing")}`;
}

/** Sends requests of every wrong kind in turn. Returns how many were refused as they should be. */
export async function malformed(target: Target, count: number, connections: number): Promise<number> {
  let refused = 0;
  let next = 0;
  await inParallel(connections, connections, async () => {
    const client = await new Client(target).initialize();
    // What is refused at the door does not count as use of a session; an open stream does.
    const stream = client.open({ method: "GET" });
    while (next < count) {
      const [what, sent, outcome] = kinds[next++ % kinds.length] as Kind;
      const answer = await client.send(sent);
      if (outcomeOf(answer) === outcome) refused++;
      else target.findings.problem(`${what}: ${outcomeOf(answer)} instead of ${outcome}`);
    }
    stream.destroy();
  });
  return refused;
}
