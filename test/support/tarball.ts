import path from "node:path";
import { execa } from "execa";

export const repository = path.join(import.meta.dirname, "..", "..");

/** The command as people get it: packed, and installed from the tarball into a folder. Returns its entry's path. */
export async function installTarball(folder: string): Promise<string> {
  const packed = await execa("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], {
    cwd: repository,
  });
  const [{ filename }] = JSON.parse(packed.stdout) as [{ filename: string }];
  await execa("npm", ["install", "--prefix", folder, "--no-audit", "--no-fund", path.join(folder, filename)]);
  return path.join(folder, "node_modules", "create-mcp-server", "bin", "create-mcp-server.js");
}
