import { type OptionName, optionList } from "./options/declaration.ts";
import { commandFlags, defaultDirectory } from "./options/flags.ts";
import type { Option } from "./options/option.ts";

/** One row of the help text and of the README's option table. */
export interface OptionRow {
  readonly flag: string;
  readonly help: string;
  /** When the flag has a meaning, where that is not always. */
  readonly condition: string;
  readonly default: string;
}

/** Every flag with its values, its meaning and its default, derived from the declaration. */
export function optionRows(): OptionRow[] {
  const declared = optionList.map(([name, option]) => ({
    flag: flagOf(name, option),
    help: option.help,
    condition: option.whenText ?? "",
    default: defaultInWords(option),
  }));
  const others = Object.entries(commandFlags).map(([name, flag]) => ({
    flag: `${"short" in flag ? `-${flag.short}, ` : ""}--${name}${"value" in flag ? ` ${flag.value}` : ""}`,
    help: flag.help,
    condition: "",
    default: "",
  }));
  return [...declared, ...others];
}

function flagOf(name: OptionName, option: Option): string {
  if (option.type === "boolean") return `--${name}, --no-${name}`;
  if (option.type === "choice") return `--${name} ${option.choices.map((choice) => choice.value).join("|")}`;
  return `--${name} ${option.type === "names" ? option.example : "TEXT"}`;
}

function defaultInWords(option: Option): string {
  if ("defaultText" in option && option.defaultText) return option.defaultText;
  if (option.type === "boolean") return option.default ? "yes" : "no";
  return option.default.length ? String(option.default) : "none";
}

/** The text of `--help`: complete enough that a program can drive the command from it alone. */
export function helpText(version: string): string {
  const rows = optionRows().flatMap((row) => {
    const details = [row.condition, row.default && `default: ${row.default}`].filter(Boolean).join("; ");
    return [`  ${row.flag}`, `      ${row.help}`, ...(details ? [`      ${details}`] : [])];
  });
  return `create-mcp-server ${version}: an MCP server in TypeScript, ready for production

Usage
  create-mcp-server [directory] [options]
  npm create mcp-server@latest [directory] -- [options]

  The directory may be a path; its last part becomes the name; . is this one.
  It must be empty, apart from .git. Not given, --yes takes ${defaultDirectory}.

  In a terminal, everything that is not given is asked for. Without a terminal
  nothing is asked: give every option that applies, or --yes for the defaults.

  A tool's name has 1 to 64 letters, digits, "_" or "-". A package manager that
  hands flags on does so after "--", as npm does above.

Options
${rows.join("\n")}

Exit codes
  0 done    1 failed    2 wrong usage    130 cancelled

Examples
  create-mcp-server my-server --yes
  create-mcp-server my-server --yes --transport http --tools a,b
`;
}
