import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeAll, describe, expect, test } from "vitest";
import { builtProject } from "../support/generated.ts";
import { type Message, projectWithTools, StdioServer, startServer } from "../support/stdio-server.ts";

/** The bytes of the answer to tools/list. */
async function list(server: StdioServer, params?: object): Promise<string> {
  server.send({ id: "list", method: "tools/list", params });
  await server.answer("list");
  return server.stdout.all.at(-1) as string;
}

/** All objects in a JSON value, each with its path. */
function* objects(value: unknown, at = ""): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield [at, value as Record<string, unknown>];
  for (const [key, child] of Object.entries(value)) yield* objects(child, `${at}/${key}`);
}

const projects: [string, () => Promise<string>][] = [
  ["the samples", () => builtProject({ samples: true, progress: true })],
  ["stubs", () => builtProject({ tools: ["list_repos", "close-issue"] })],
  ["tools with every kind of schema", () => projectWithTools("hostile-tools.ts")],
];

describe.each(projects)("tools/list of %s", (_, build) => {
  let project: string;
  let bytes: string;
  beforeAll(async () => {
    project = await build();
    const server = await new StdioServer(project).initialize();
    bytes = await list(server);
    await server.kill();
  });

  test("is the same, byte for byte, at every start", async () => {
    expect(await list(await startServer(project).initialize())).toBe(bytes);
    expect(await list(await startServer(project).initialize(), {})).toBe(bytes);
  });

  test("shows every tool with a name, texts and annotations", () => {
    const { tools } = (JSON.parse(bytes) as Message).result;
    expect(tools.length).toBeGreaterThan(0);
    for (const tool of tools) {
      expect(tool).toMatchObject({
        name: expect.stringMatching(/^[a-zA-Z0-9_-]{1,64}$/),
        title: expect.stringMatching(/./),
        description: expect.stringMatching(/./),
        annotations: {
          readOnlyHint: expect.any(Boolean),
          destructiveHint: expect.any(Boolean),
          idempotentHint: expect.any(Boolean),
          openWorldHint: expect.any(Boolean),
        },
      });
    }
  });

  test("has valid JSON Schema 2020-12 with an object root, typed items and no $ref", () => {
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, validateFormats: false });
    for (const tool of (JSON.parse(bytes) as Message).result.tools) {
      for (const schema of [tool.inputSchema, tool.outputSchema].filter(Boolean)) {
        expect(schema.type).toBe("object");
        expect(ajv.validateSchema(schema), ajv.errorsText()).toBe(true);
        ajv.compile(schema);
        for (const [at, node] of objects(schema)) {
          expect(node, at).not.toHaveProperty("$ref");
          if (node.type !== "array") continue;
          const { items } = node as { items: object };
          expect(
            ["type", "anyOf", "oneOf"].some((keyword) => keyword in items),
            `${at} has typed items`,
          ).toBe(true);
        }
      }
    }
  });
});

test.each(["next", "", 0, null])("a cursor that was never handed out is refused: %j", async (cursor) => {
  const server = await startServer(await builtProject({ samples: true, progress: true })).initialize();
  expect((await server.request("tools/list", { cursor })).error).toMatchObject({
    code: -32602,
    message: expect.stringContaining("cursor"),
  });
});
