/**
 * Loaded into the server under attack (`node --import`), from a copy in its project so that its imports find the
 * server's own modules. It answers what cannot be seen from outside, and changes nothing.
 */

import { setImmediate as turn } from "node:timers/promises";
import { queryObjects } from "node:v8";

const classes = Promise.all([
  import("@modelcontextprotocol/sdk/server/index.js"),
  import("./dist/http/session.js"),
]);

process.on("message", async () => {
  const [{ Server }, { Session }] = await classes;
  // What one collection frees can hold what the next one frees, with callbacks in between.
  for (let round = 0; round < 4; round++) {
    globalThis.gc();
    await turn();
  }
  const { heapUsed, external } = process.memoryUsage();
  process.send({
    heapBytes: heapUsed + external,
    peakBytes: process.resourceUsage().maxRSS * 1024,
    sockets: process.getActiveResourcesInfo().filter((kind) => kind === "TCPSocketWrap").length,
    sessions: queryObjects(Session, { format: "count" }),
    servers: queryObjects(Server, { format: "count" }),
    pollution: Object.keys(Object.prototype).length,
  });
});
