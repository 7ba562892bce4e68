import { defineConfig } from "vitest/config";
import { templatesPlugin } from "./build/templates-plugin.ts";

export default defineConfig({
  plugins: [templatesPlugin()],
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
});
