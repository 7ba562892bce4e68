import { existsSync } from "node:fs";
import { cancel, confirm, intro, isCancel, log, select, text } from "@clack/prompts";
import { Cancelled, CommandError } from "../errors.ts";
import { applies, defaultOf, type GivenChoices, problemWith } from "../options/answers.ts";
import { type OptionName, optionList } from "../options/declaration.ts";
import { defaultDirectory, parseNames } from "../options/flags.ts";
import type { KnownAnswers, Option } from "../options/option.ts";
import { packageNameProblem, resolveTarget } from "../options/project-name.ts";
import { prepareTarget } from "../write/target.ts";

/** What has been decided, by flags first and by answers then. */
export interface Asked {
  directory: string | undefined;
  name: string | undefined;
  choices: GivenChoices;
}

/**
 * Asks for everything that the flags left open, one question an option, in the order of the declaration.
 *
 * @throws Cancelled when the person presses Ctrl-C or Escape; CommandError when the given directory cannot take a project.
 */
export async function askMissing(given: Asked, context: KnownAnswers, cwd: string): Promise<Asked> {
  if (given.directory !== undefined) await prepare(given.directory, given.name, cwd);
  intro("create-mcp-server");
  const directory = given.directory ?? (await askDirectory(given.name, cwd));
  const name = given.name ?? (await askNameIfNeeded(directory, cwd));
  const answers: Record<string, unknown> = { ...context, ...given.choices };
  for (const [option, declaration] of optionList) {
    if (answers[option] !== undefined || !applies(declaration, answers)) continue;
    answers[option] = await ask(option, declaration, answers);
  }
  const choices = Object.fromEntries(optionList.map(([option]) => [option, answers[option]]));
  return { directory, name, choices };
}

/** A directory that cannot take a project is refused before anything else is asked. */
async function prepare(directory: string, name: string | undefined, cwd: string): Promise<void> {
  await prepareTarget(resolveTarget(directory, cwd, name, existsSync).directory);
}

async function askDirectory(name: string | undefined, cwd: string): Promise<string> {
  for (;;) {
    const typed = given(
      await text({
        message: "Where should the server go?",
        placeholder: defaultDirectory,
        defaultValue: defaultDirectory,
      }),
    );
    try {
      await prepare(typed, name, cwd);
      return typed;
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      log.error([error.message, error.advice].filter(Boolean).join("\n"));
    }
  }
}

async function askNameIfNeeded(directory: string, cwd: string): Promise<string | undefined> {
  if (resolveTarget(directory, cwd, undefined, existsSync).name !== undefined) return undefined;
  const typed = await text({
    message: "What is the package called?",
    placeholder: "lower-case letters, digits and dashes",
    validate: (value) => packageNameProblem(value ?? ""),
  });
  return given(typed);
}

async function ask(name: OptionName, option: Option, answers: KnownAnswers): Promise<unknown> {
  const initial = defaultOf(option, answers);
  switch (option.type) {
    case "boolean":
      return given(await confirm({ message: option.prompt, initialValue: initial as boolean }));
    case "choice":
      return given(
        await select({
          message: option.prompt,
          options: [...option.choices],
          initialValue: initial as string,
        }),
      );
    case "names":
      return parseNames(
        given(
          await text({
            message: option.prompt,
            placeholder: option.example,
            defaultValue: "",
            validate: (value) => problemWith(option, parseNames(value ?? ""), answers),
          }),
        ),
      );
    case "text":
      return given(
        await text({
          message: option.prompt,
          placeholder: option.default,
          defaultValue: option.default,
          validate: (value) => problemWith(option, value ?? "", { ...answers, [name]: value }),
        }),
      );
  }
}

function given<T>(answer: T): Exclude<T, symbol> {
  if (!isCancel(answer)) return answer as Exclude<T, symbol>;
  cancel("Cancelled; nothing was written");
  throw new Cancelled("");
}
