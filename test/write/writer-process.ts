import path from "node:path";
import { execa, type Options } from "execa";
import { rolldown } from "rolldown";

/** What a writing process printed; see writer.ts. */
export interface Outcome {
  readonly done: boolean;
  readonly name?: string;
  readonly message?: string;
  readonly advice?: string;
}

/** Bundles the writer into a folder, so that each of many processes starts at once. Returns its entry. */
export async function bundleWriter(folder: string): Promise<string> {
  const bundle = await rolldown({ input: path.join(import.meta.dirname, "writer.ts"), platform: "node" });
  await bundle.write({
    dir: folder,
    format: "esm",
    entryFileNames: "writer.mjs",
    chunkFileNames: "[name].mjs",
  });
  await bundle.close();
  return path.join(folder, "writer.mjs");
}

/** Writes so many files in a process of its own; with 0 it only looks whether it could. */
export async function writeInProcess(
  entry: string,
  directory: string,
  count: number,
  options: Options = {},
): Promise<Outcome> {
  const { stdout } = await execa(process.execPath, [entry, directory, String(count)], {
    ...options,
    stdin: "ignore",
    encoding: "utf8",
  });
  return JSON.parse(String(stdout)) as Outcome;
}
