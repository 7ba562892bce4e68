import { readFileSync } from "node:fs";
import path from "node:path";
import { optionRows } from "../src/help.ts";

export const readmePath = path.join(import.meta.dirname, "..", "README.md");

/** The README with its option table as it has to be. */
export function currentReadme(): string {
  const rows = optionRows().map(
    (row) =>
      `| \`${row.flag.replaceAll("|", "\\|")}\` | ${[row.help, row.condition].filter(Boolean).join("; ")} | ${row.default} |`,
  );
  const table = ["| flag | meaning | default |", "|---|---|---|", ...rows].join("\n");
  return readFileSync(readmePath, "utf8").replace(
    /(<!-- options:.*-->\n)[\s\S]*(<!-- \/options -->)/,
    (_, start: string, end: string) => `${start}${table}\n${end}`,
  );
}
