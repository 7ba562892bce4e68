import { existsSync } from "node:fs";
import path from "node:path";
import { execa } from "execa";
import { workspace } from "./workspace.ts";

/** The newest Node of a release line, from the package that carries its binary; the running one where it is that line. */
export async function nodeBinary(line: string): Promise<string> {
  if (process.versions.node.startsWith(`${line}.`)) return process.execPath;
  const name = `node-${process.platform}-${process.arch}`;
  const prefix = path.join(workspace, `node-${line}`);
  const binary = path.join(prefix, "node_modules", name, "bin", "node");
  if (!existsSync(binary)) {
    await execa("npm", ["install", "--prefix", prefix, "--no-audit", "--no-fund", `${name}@${line}`]);
  }
  return binary;
}
