import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { compare, header, type Program, row } from "./measure.ts";

const entry = path.join(import.meta.dirname, "..", "bin", "create-mcp-server.js");
const folder = mkdtempSync(path.join(os.tmpdir(), "create-mcp-server-bench-"));
const project = path.join(folder, "x");
const clean = () => rmSync(project, { recursive: true, force: true });

const node = process.execPath;
const nothing: Program = { command: node, args: ["-e", ""], before: clean };
const command = (...args: string[]): Program => ({
  command: node,
  args: [entry, ...args],
  cwd: folder,
  before: clean,
});
const creation = command("x", "--yes", "--no-install", "--no-git");
const largest = command("x", "--yes", "--no-install", "--no-git", "--transport", "both", "--docker");

/** The fastest of the well-known scaffolders, for a sense of what is possible. */
function createVite(): Program {
  const prefix = path.join(os.tmpdir(), "create-mcp-server-bench-vite");
  const script = path.join(prefix, "node_modules", "create-vite", "index.js");
  if (!existsSync(script)) execFileSync("npm", ["install", "--silent", "--prefix", prefix, "create-vite"]);
  return {
    command: node,
    args: [script, "x", "--template", "react-ts", "--no-interactive"],
    cwd: folder,
    before: clean,
  };
}

const cases: [title: string, program: Program, other: Program, budget: string][] = [
  ['--help, to `node -e ""`', command("--help"), nothing, "≤ 1.5"],
  ['--version, to `node -e ""`', command("--version"), nothing, "≤ 1.5"],
  ['create, to `node -e ""`', creation, nothing, "≤ 2"],
  ['create everything, to `node -e ""`', largest, nothing, "≤ 2"],
  ["create, to create-vite", creation, createVite(), "≤ 1"],
];

try {
  console.log(header.join("\n"));
  for (const [title, program, other, budget] of cases) {
    const { ms, otherMs, ratio } = compare(program, other);
    console.log(row(title, ratio, budget, `${ms.toFixed(0)} and ${otherMs.toFixed(0)} ms`));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
