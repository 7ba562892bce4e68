import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import Handlebars from "handlebars";
import { templateOptions } from "../src/plan/template-options.ts";

/** What the sources import to get at the templates. */
const moduleName = "virtual:templates";
const folder = path.join(import.meta.dirname, "..", "templates");

/** The part of the plugin interface that Rolldown and Vite share. */
interface TemplatesPlugin {
  name: string;
  resolveId(id: string): string | undefined;
  load(id: string): string | undefined;
}

/**
 * Serves the folder `templates` as a module: plain files as strings, `.hbs` files compiled. A template's syntax error
 * stops the build, and neither a parser nor the folder is needed when the command runs.
 */
export function templatesPlugin(): TemplatesPlugin {
  return {
    name: "templates",
    resolveId: (id) => (id === moduleName ? `\0${moduleName}` : undefined),
    load: (id) => (id === `\0${moduleName}` ? templatesModule() : undefined),
  };
}

function templatesModule(): string {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, "/"))
    .sort()
    .map((name) => {
      const text = readFileSync(path.join(folder, name), "utf8");
      const value = name.endsWith(".hbs")
        ? Handlebars.precompile(text, templateOptions)
        : JSON.stringify(text);
      return `  ${JSON.stringify(name)}: ${value},`;
    });
  return `export const templates = {\n${entries.join("\n")}\n};\n`;
}
