import { defineConfig } from "rolldown";
import { templatesPlugin } from "./templates-plugin.ts";

/** One bundle without runtime dependencies: what a command does not need stays in chunks that it never loads. */
export default defineConfig({
  input: { cli: "src/cli.ts" },
  platform: "node",
  // What the entry shares with a chunk stays in the entry: each file that is loaded costs about a millisecond.
  preserveEntrySignatures: "allow-extension",
  plugins: [templatesPlugin()],
  output: {
    dir: "dist",
    cleanDir: true,
    format: "cjs",
    minify: true,
    entryFileNames: "[name].cjs",
    chunkFileNames: "[name].cjs",
  },
});
