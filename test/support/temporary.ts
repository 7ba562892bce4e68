import { mkdtemp, realpath } from "node:fs/promises";
import os from "node:os";
import path from "node:path";

/** A new empty folder, by its real path. Who asks for it removes it. */
export async function temporaryFolder(name: string): Promise<string> {
  return mkdtemp(path.join(await realpath(os.tmpdir()), `create-mcp-server-${name}-`));
}
