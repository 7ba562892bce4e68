import { existsSync } from "node:fs";
import { cancel, confirm, intro, isCancel, log, select, text } from "@clack/prompts";
import { Cancelled, CommandError } from "../errors.ts";
import { applies, defaultOf, type GivenChoices, problemWith } from "../options/answers.ts";
import { optionList } from "../options/declaration.ts";
import { defaultDirectory, parseNames } from "../options/flags.ts";
import type { KnownAnswers, Option } from "../options/option.ts";
import { packageNameProblem, resolveTarget } from "../options/project-name.ts";
import { inspectTarget } from "../write/target.ts";

/** What has been decided, by flags first and by answers then. */
export interface Asked {
  directory: string | undefined;
  name: string | undefined;
  choices: GivenChoices;
}

/** What every question needs to know. */
interface Circumstances {
  readonly cwd: string;
  /** Ends the question that is being asked. */
  readonly signal: AbortSignal;
}

/**
 * Asks for everything that the flags left open, one question an option, in the order of the declaration.
 *
 * @throws Cancelled when the person presses Ctrl-C or Escape, or when `signal` fires; CommandError when the given
 *   directory cannot take a project.
 */
export async function askMissing(given: Asked, context: KnownAnswers, where: Circumstances): Promise<Asked> {
  if (given.directory !== undefined) await inspect(given.directory, given.name, where.cwd);
  intro("create-mcp-server");
  const directory = given.directory ?? (await askDirectory(given.name, where));
  const name = given.name ?? (await askNameIfNeeded(directory, where));
  const answers: Record<string, unknown> = { ...context, ...given.choices };
  for (const [option, declaration] of optionList) {
    if (answers[option] !== undefined || !applies(declaration, answers)) continue;
    answers[option] = await ask(declaration, answers, where.signal);
  }
  const choices = Object.fromEntries(optionList.map(([option]) => [option, answers[option]]));
  return { directory, name, choices };
}

/** A directory that cannot take a project is refused before anything else is asked. */
async function inspect(directory: string, name: string | undefined, cwd: string): Promise<void> {
  await inspectTarget(resolveTarget(directory, cwd, name, existsSync).directory);
}

async function askDirectory(name: string | undefined, { cwd, signal }: Circumstances): Promise<string> {
  for (;;) {
    const typed = answered(
      await text({
        message: "Where should the server go?",
        placeholder: defaultDirectory,
        defaultValue: defaultDirectory,
        signal,
      }),
    );
    try {
      await inspect(typed, name, cwd);
      return typed;
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      log.error([error.message, error.advice].filter(Boolean).join("\n"));
    }
  }
}

async function askNameIfNeeded(
  directory: string,
  { cwd, signal }: Circumstances,
): Promise<string | undefined> {
  if (resolveTarget(directory, cwd, undefined, existsSync).name !== undefined) return undefined;
  const typed = await text({
    message: "What is the package called?",
    placeholder: "lower-case letters, digits and dashes",
    validate: (value) => packageNameProblem(value ?? ""),
    signal,
  });
  return answered(typed);
}

async function ask(option: Option, answers: KnownAnswers, signal: AbortSignal): Promise<unknown> {
  const initial = defaultOf(option, answers);
  const message = option.prompt;
  switch (option.type) {
    case "boolean":
      return answered(await confirm({ message, initialValue: initial as boolean, signal }));
    case "choice": {
      const choices = { options: [...option.choices], initialValue: initial as string };
      return answered(await select({ message, ...choices, signal }));
    }
    case "names": {
      const validate = (value = "") => problemWith(option, parseNames(value), answers);
      const placeholder = option.example;
      return parseNames(answered(await text({ message, placeholder, defaultValue: "", validate, signal })));
    }
    case "text": {
      const validate = (value = "") => problemWith(option, value, answers);
      const placeholder = option.default;
      return answered(await text({ message, placeholder, defaultValue: placeholder, validate, signal }));
    }
  }
}

function answered<T>(answer: T): Exclude<T, symbol> {
  if (!isCancel(answer)) return answer as Exclude<T, symbol>;
  cancel("Cancelled; nothing was written");
  throw new Cancelled("");
}
