import { defineConfig } from "vitest/config";
import { templatesPlugin } from "./build/templates-plugin.ts";

export default defineConfig({
  plugins: [templatesPlugin()],
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/workspace.ts"],
    // Two cores: more processes at a time only make each of them slower.
    maxConcurrency: 2,
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
