import path from "node:path";
import { execa } from "execa";
import fs from "fs-extra";
import { temporaryFolder } from "./temporary.ts";

export const repository = path.join(import.meta.dirname, "..", "..");

let installed: Promise<string> | undefined;

/** The command as people get it: packed, and installed from the tarball. Returns the path of its entry. */
export function installedTarball(): Promise<string> {
  installed ??= install();
  return installed;
}

async function install(): Promise<string> {
  const folder = await temporaryFolder("packed");
  process.once("exit", () => fs.removeSync(folder));
  const packed = await execa("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], {
    cwd: repository,
  });
  const [{ filename }] = JSON.parse(packed.stdout) as [{ filename: string }];
  await execa("npm", ["install", "--prefix", folder, "--no-audit", "--no-fund", path.join(folder, filename)]);
  return path.join(folder, "node_modules", "create-mcp-server", "bin", "create-mcp-server.js");
}
