import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { compileTemplate } from "./template-compiler.ts";

/** What the sources import to get at the templates. */
const moduleName = "virtual:templates";
const root = path.join(import.meta.dirname, "..");
const folder = path.join(root, "templates");

/** The part of the plugin interface that Rolldown and Vite share. */
interface TemplatesPlugin {
  name: string;
  resolveId(id: string): string | undefined;
  load(id: string): string | undefined;
}

/** The folder of what templates include; no project has its files as they are. */
const partialsFolder = "partials/";

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
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, "/"))
    .sort();
  const entry = (key: string, name: string) => `  ${JSON.stringify(key)}: ${templateSource(name)},`;
  const isPartial = (name: string) => name.startsWith(partialsFolder);
  const partials = names.filter(isPartial).map((name) => entry(path.basename(name, ".hbs"), name));
  const templates = names.filter((name) => !isPartial(name)).map((name) => entry(name, name));
  const helpers = (file: string) => JSON.stringify(path.join(root, "src", "plan", file));
  return [
    `import { known } from ${helpers("known.ts")};`,
    `import { json, md } from ${helpers("literals.ts")};`,
    `const partials = {\n${partials.join("\n")}\n};`,
    `export const templates = {\n${templates.join("\n")}\n};\n`,
  ].join("\n");
}

function templateSource(name: string): string {
  const text = readFileSync(path.join(folder, name), "utf8");
  if (!name.endsWith(".hbs")) return JSON.stringify(text);
  try {
    return compileTemplate(text);
  } catch (error) {
    throw new Error(`templates/${name}: ${(error as Error).message}`, { cause: error });
  }
}
