import type { Overlay } from "./overlays.ts";
import type { Project } from "./project.ts";
import { type Dependency, supportedNode, versions } from "./versions.ts";

/** Composes package.json as data: what the chosen overlays need, in one sorted whole. */
export function composePackageJson(project: Project, chosen: readonly Overlay[]): Record<string, unknown> {
  const binName = project.name.replace(/^@[^/]+\//, "");
  const { pm } = project;
  return {
    name: project.name,
    version: "0.1.0",
    private: true,
    description: project.description,
    type: "module",
    bin: { [binName]: "dist/index.js" },
    files: ["dist"],
    exports: { "./types": { types: "./dist/types.d.ts" } },
    engines: { node: supportedNode },
    scripts: scripts(project),
    // npm warns until someone decides on an install script; esbuild's only speeds its start up.
    ...(pm === "npm" && { allowScripts: { esbuild: false } }),
    // Yarn would give vitest the newest Vite, and not the one that this project names.
    ...(pm === "yarn" && { resolutions: pinned(["vite"]) }),
    dependencies: pinned(chosen.flatMap((overlay) => overlay.dependencies ?? [])),
    devDependencies: pinned(chosen.flatMap((overlay) => overlay.devDependencies ?? [])),
  };
}

function scripts({ stdio }: Project): Record<string, string> {
  const inspector = `@modelcontextprotocol/inspector@${versions["@modelcontextprotocol/inspector"].version}`;
  const inspected = stdio ? "node dist/index.js" : "--transport http --server-url http://127.0.0.1:3001/mcp";
  return {
    // `tsx watch` reads stdin and writes to stdout, which belong to the client under stdio.
    dev: stdio ? "tsx src/index.ts" : "tsx watch src/index.ts",
    build: "tsc -p tsconfig.build.json",
    start: "node dist/index.js",
    // No `pretest`: Yarn 2 and later would not run it.
    test: "tsc -p tsconfig.build.json && vitest run",
    typecheck: "tsc",
    lint: "biome check src test",
    format: "biome check --write src test",
    inspect: `npx --yes ${inspector} ${inspected}`,
  };
}

function pinned(names: readonly Dependency[]): Record<string, string> {
  return Object.fromEntries([...names].sort().map((name) => [name, versions[name].version]));
}
