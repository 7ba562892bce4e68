import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { builtProject } from "../support/generated.ts";
import { startServer } from "../support/stdio-server.ts";

let project: string;
beforeAll(async () => {
  project = await builtProject({ samples: true, progress: true });
});

test.each([[["run", "dev"]], [["run", "--silent", "dev"]]])(
  "npm %j is driven by the official client",
  async (args) => {
    const client = new Client({ name: "test", version: "1.0.0" });
    await client.connect(new StdioClientTransport({ command: "npm", args, cwd: project, stderr: "ignore" }));
    onTestFinished(() => client.close());
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["reserve_seat", "query_order", "batch_translate"]);
    const { structuredContent } = await client.callTool({
      name: "reserve_seat",
      arguments: { seatId: "A1" },
    });
    expect(structuredContent).toEqual({ id: "A1", status: "reserved" });
  },
);

test("npm run dev writes nothing else to stdout, and ends with its client", async () => {
  const server = startServer(project, {
    command: ["npm", "run", "--silent", "dev"],
    env: { PATH: process.env.PATH ?? "", HOME: project },
  });
  await server.initialize();
  server.process.stdin?.end();
  expect(await server.ended).toMatchObject({ code: 0 });
  expect(server.messages().map(({ id }) => id)).toEqual(["initialize"]);
});
