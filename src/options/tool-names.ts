import type { KnownAnswers } from "./option.ts";

/** What the MCP specification and its hosts accept in common (2025-11-25, server/tools, "Tool Names"). */
const toolName = /^[a-zA-Z0-9_-]{1,64}$/;

/** The names of the sample tools that a project gets; the long-running one comes with progress. */
export function sampleToolNames({ samples, progress }: KnownAnswers): string[] {
  if (!samples) return [];
  return ["reserve_seat", "query_order", ...(progress === false ? [] : ["batch_translate"])];
}

/** Says what is wrong with a list of tool names, or nothing. */
export function toolNamesProblem(names: readonly string[], answers: KnownAnswers): string | undefined {
  const samples = sampleToolNames(answers);
  const taken = new Map(samples.map((name) => [toolFileName(name), name]));
  for (const name of names) {
    if (name === "") return "a tool name is empty; write the names with one comma between them, as in a,b";
    if (!toolName.test(name)) {
      return `"${name}" cannot be a tool name; use 1 to 64 letters, digits, "_" or "-"`;
    }
    const file = toolFileName(name);
    const other = taken.get(file);
    if (other === name && samples.includes(name)) {
      return `"${name}" is the name of a sample tool; choose another name or pass --no-samples`;
    }
    if (other !== undefined) {
      return other === name
        ? `the tool name "${name}" is given twice`
        : `"${other}" and "${name}" would share the file ${file}.ts; choose names that differ in a letter or digit`;
    }
    taken.set(file, name);
  }
  return undefined;
}

/** Names that no tool file may have: the registry, and what Windows keeps for devices. */
const takenFileName = /^(index|con|prn|aux|nul|com\d|lpt\d)$/;

/** The name of a tool's file without its ending: `listRepos` and `list_repos` are both `list-repos`. */
export function toolFileName(name: string): string {
  const file = words(name).join("-") || "tool";
  return takenFileName.test(file) ? `${file}-tool` : file;
}

/** The longest identifier with which a stub's first line stays within the formatter's 80 columns. */
const longestIdentifier = 40;

/** A JavaScript identifier for a tool, which can neither be a keyword nor hide a global: `listReposTool`. */
export function toolIdentifier(name: string): string {
  const [first = "", ...rest] = words(name);
  const camel = (first + rest.map(capitalise).join("")).slice(0, longestIdentifier);
  if (camel === "") return "tool";
  return `${/^\d/.test(camel) ? "_" : ""}${camel}Tool`;
}

/** A title for people: `list_repos` becomes `List repos`. */
export function toolTitle(name: string): string {
  return capitalise(words(name).join(" ")) || name;
}

function words(name: string): string[] {
  return name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter(Boolean);
}

function capitalise(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
