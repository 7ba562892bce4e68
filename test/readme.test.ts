import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { currentReadme, readmePath } from "../build/readme.ts";

test("the README's option table is current (npm run docs writes it)", () => {
  expect(readFileSync(readmePath, "utf8")).toBe(currentReadme());
});
