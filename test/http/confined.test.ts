import { readFile } from "node:fs/promises";
import { beforeAll, expect, test } from "vitest";
import { asInAContainer, asNobody, canRunThrough } from "../support/confined.ts";
import { launch, toolCall } from "../support/http-server.ts";
import { projectWithTools } from "../support/stdio-server.ts";

const nobody = await canRunThrough(asNobody);
const container = await canRunThrough(asInAContainer);
if (!nobody || !container)
  console.warn("Skipped: this machine lets nobody change the user or the namespace.");

let project: string;
beforeAll(async () => {
  project = await projectWithTools("hostile-tools.ts", { transport: "http", auth: "none" });
});

/** The only child of a process. */
async function childOf(pid: number): Promise<number> {
  return Number((await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).trim());
}

// Some machines let everybody have every port.
const privileged =
  nobody && Number(await readFile("/proc/sys/net/ipv4/ip_unprivileged_port_start", "utf8")) > 1;
test.skipIf(!privileged)("a port that only root may have: exit 1 and one line", async () => {
  const server = launch(project, { PORT: "1" }, asNobody);
  expect(await server.ended).toBe(1);
  expect(server.stderr.all.filter(Boolean)).toEqual([
    "Cannot start: PORT: cannot listen on port 1 of 127.0.0.1: permission denied; choose a port above 1023",
  ]);
});

test.skipIf(!container)(
  "process 1, on a read-only root, as an unknown user without capabilities: serves, and SIGTERM ends it with 0",
  async () => {
    const server = launch(project, { MCP_STATELESS: "true" }, asInAContainer);
    await server.listening();
    const node = await childOf(server.process.pid as number);
    const status = await readFile(`/proc/${node}/status`, "utf8");
    expect(status).toMatch(/^NSpid:\t\d+\t1$/m);
    expect(status).toMatch(/^Uid:\t12345\t12345\t12345\t12345$/m);
    expect(status).toMatch(/^CapBnd:\t0+$/m);
    expect(await readFile(`/proc/${node}/mountinfo`, "utf8")).toMatch(/ \/ \/ ro[, ]/);

    const call = server.post(toolCall(1, "waits", { ms: 300 }));
    await server.logged({ message: "waiting" });
    process.kill(node, "SIGTERM");
    expect((await call).message.result.structuredContent).toEqual({ waited: true });
    expect(await server.ended).toBe(0);
    expect(server.stderr.all.join("")).toBe("");
  },
);
