import { parseArgs } from "node:util";
import { UsageError } from "../errors.ts";
import type { GivenChoices } from "./answers.ts";
import { type OptionName, optionList, options } from "./declaration.ts";
import { nearest } from "./nearest.ts";
import type { Option } from "./option.ts";

/** The directory that the wizard proposes and `--yes` takes. */
export const defaultDirectory = "my-mcp-server";

/** Flags that are no questions: they steer the command itself. */
export const commandFlags = {
  name: { type: "string", value: "PACKAGE", help: "the package name, where it differs from the directory's" },
  yes: { type: "boolean", short: "y", help: "take the default for everything not given; ask nothing" },
  "dry-run": { type: "boolean", help: "print what would be written, and write nothing" },
  json: { type: "boolean", help: "print one JSON object on stdout and everything else on stderr" },
  debug: { type: "boolean", help: "show stack traces" },
  help: { type: "boolean", short: "h", help: "show this help" },
  version: { type: "boolean", short: "v", help: "show the version" },
} as const;

/** A command line, taken apart. */
export interface CommandLine {
  directory: string | undefined;
  name: string | undefined;
  choices: GivenChoices;
  yes: boolean;
  dryRun: boolean;
  json: boolean;
  help: boolean;
  version: boolean;
}

/**
 * Takes the command line apart.
 *
 * @throws UsageError for an unknown flag, an unknown or missing value, a contradiction or a second directory.
 */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  // `npm create` hands flags on after a `--`, and people who are used to that type it where it is not needed.
  const args = argv.filter((arg) => arg !== "--");
  const { tokens } = parseArgs({
    args,
    options: parserOptions(),
    strict: false,
    tokens: true,
    allowPositionals: true,
  });

  const values: Record<string, string | true> = {};
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const type = parserOptions()[token.name]?.type;
    if (!type) throw new UsageError(unknownFlag(token.rawName, token.name));
    if (type === "boolean" && token.value !== undefined) {
      throw new UsageError(`--${token.name} takes no value`, `Write just --${token.name}.`);
    }
    if (type === "string" && (token.value === undefined || (!token.inlineValue && /^-./.test(token.value)))) {
      const dash =
        token.value === undefined ? "" : `; one that begins with a dash is written --${token.name}=-x`;
      throw new UsageError(`--${token.name} needs a value${dash}`, valueHint(token.name));
    }
    if (values[token.name] !== undefined && values[token.name] !== (token.value ?? true)) {
      throw new UsageError(`--${token.name} is given twice with different values`);
    }
    values[token.name] = token.value ?? true;
  }
  if (positionals.length > 1) {
    throw new UsageError(
      `one directory is expected, not ${positionals.length}: ${positionals.join(", ")}`,
      "Quote a name that has spaces.",
    );
  }

  const choices: Record<string, unknown> = {};
  for (const [name, option] of optionList) choices[name] = parseValue(name, option, values);
  const flag = (name: keyof typeof commandFlags) => values[name] === true;
  return {
    directory: positionals[0],
    name: values.name as string | undefined,
    choices: choices as GivenChoices,
    yes: flag("yes"),
    dryRun: flag("dry-run"),
    json: flag("json"),
    help: flag("help"),
    version: flag("version"),
  };
}

type ParserOptions = Record<string, { type: "string" | "boolean"; short?: string }>;

function parserOptions(): ParserOptions {
  const all: ParserOptions = {};
  for (const [name, option] of optionList) {
    all[name] = { type: option.type === "boolean" ? "boolean" : "string" };
    if (option.type === "boolean") all[`no-${name}`] = { type: "boolean" };
  }
  for (const [name, flag] of Object.entries(commandFlags)) {
    all[name] = "short" in flag ? { type: flag.type, short: flag.short } : { type: flag.type };
  }
  return all;
}

function parseValue(name: OptionName, option: Option, values: Record<string, string | true>): unknown {
  const value = values[name];
  if (option.type === "boolean") {
    const no = values[`no-${name}`];
    if (value && no) throw new UsageError(`--${name} and --no-${name} contradict each other`);
    return value || no ? value === true : undefined;
  }
  if (value === undefined) return undefined;
  if (option.type === "names") return parseNames(value as string);
  if (option.type === "choice" && !option.choices.some((choice) => choice.value === value)) {
    throw new UsageError(`--${name} cannot be "${value}"`, valueHint(name));
  }
  return value;
}

/** Splits a comma-separated list; nothing at all is an empty list. */
export function parseNames(text: string): string[] {
  return text.trim() === "" ? [] : text.split(",").map((name) => name.trim());
}

function valueHint(name: string): string {
  const option: Option | undefined = options[name as OptionName];
  return option?.type === "choice"
    ? `Use one of: ${option.choices.map((choice) => choice.value).join(", ")}.`
    : "Run with --help to see all flags.";
}

function unknownFlag(rawName: string, name: string): string {
  const suggestion = nearest(name, Object.keys(parserOptions()));
  return `unknown flag ${rawName}${suggestion ? `; did you mean --${suggestion}?` : ""}`;
}
