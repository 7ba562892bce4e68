/**
 * The stateless server as the SDK's documentation writes it: an `McpServer` for each request, with ten tools that have
 * the schemas and handlers of a generated stub. It is what generated servers are measured against.
 */

import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { Request, Response } from "express";
import { z } from "zod";

const names = (process.env.TOOLS ?? "").split(",");

function createServer(): McpServer {
  const server = new McpServer({ name: "documented", version: "0.1.0" });
  for (const name of names) {
    server.registerTool(
      name,
      {
        title: name,
        description: "Says what it does and when to use it: the model reads this.",
        inputSchema: { id: z.string().min(1).max(100).describe("What the tool works on") },
        outputSchema: { id: z.string(), status: z.literal("done") },
        annotations: {
          readOnlyHint: true,
          destructiveHint: false,
          idempotentHint: true,
          openWorldHint: false,
        },
      },
      async ({ id }) => {
        const output = { id, status: "done" as const };
        return { content: [{ type: "text", text: JSON.stringify(output) }], structuredContent: output };
      },
    );
  }
  return server;
}

if (process.env.MCP_TRANSPORT === "http") {
  const app = createMcpExpressApp();
  app.post("/mcp", async (req: Request, res: Response) => {
    const server = createServer();
    const transport = new StreamableHTTPServerTransport({});
    res.on("close", () => {
      transport.close();
      server.close();
    });
    await server.connect(transport as Transport);
    await transport.handleRequest(req, res, req.body);
  });
  const listener = app.listen(0, "127.0.0.1", () => {
    const address = listener.address();
    if (typeof address === "object")
      console.log(JSON.stringify({ url: `http://127.0.0.1:${address?.port}/mcp` }));
  });
} else {
  await createServer().connect(new StdioServerTransport());
}
