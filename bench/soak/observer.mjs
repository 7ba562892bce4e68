/**
 * Loaded into the server under attack (`node --import`), from a copy in its project so that its imports find the
 * server's own modules. It answers what cannot be seen from outside, and changes nothing.
 */

import { monitorEventLoopDelay } from "node:perf_hooks";
import { setImmediate as turn } from "node:timers/promises";
import { queryObjects } from "node:v8";

const classes = Promise.all([
  import("@modelcontextprotocol/sdk/server/index.js"),
  import("./dist/http/session.js"),
]);

const blocked = monitorEventLoopDelay({ resolution: 10 });
blocked.enable();
let peakBytes = 0;
setInterval(() => {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss());
}, 20).unref();

process.on("message", async () => {
  const blockedMs = blocked.max / 1e6;
  const [{ Server }, { Session }] = await classes;
  // What one collection frees can hold what the next one frees, with callbacks in between.
  for (let round = 0; round < 4; round++) {
    globalThis.gc();
    await turn();
  }
  const { heapUsed, external } = process.memoryUsage();
  process.send({
    heapBytes: heapUsed + external,
    rssBytes: process.memoryUsage.rss(),
    peakBytes,
    blockedMs,
    sockets: process.getActiveResourcesInfo().filter((kind) => kind === "TCPSocketWrap").length,
    sessions: queryObjects(Session, { format: "count" }),
    servers: queryObjects(Server, { format: "count" }),
    pollution: Object.keys(Object.prototype).length,
  });
  // Measuring blocks, and needs memory, itself.
  peakBytes = 0;
  blocked.reset();
});
