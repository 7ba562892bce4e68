import { defineConfig } from "vitest/config";
import { templatesPlugin } from "./build/templates-plugin.ts";

export default defineConfig({
  plugins: [templatesPlugin()],
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/workspace.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
