import { existsSync } from "node:fs";
import { cancel, confirm, intro, isCancel, select, text } from "@clack/prompts";
import { Cancelled, CommandError } from "../errors.ts";
import { applies, defaultOf, type GivenChoices, problemWith } from "../options/answers.ts";
import { type OptionName, optionList } from "../options/declaration.ts";
import { defaultDirectory, parseNames } from "../options/flags.ts";
import type { KnownAnswers, Option } from "../options/option.ts";
import { packageNameProblem, resolveTarget } from "../options/project-name.ts";

/** What has been decided, by flags first and by answers then. */
export interface Asked {
  directory: string | undefined;
  name: string | undefined;
  choices: GivenChoices;
}

/**
 * Asks for everything that the flags left open, one question an option, in the order of the declaration.
 *
 * @throws Cancelled when the person presses Ctrl-C or Escape.
 */
export async function askMissing(given: Asked, context: KnownAnswers, cwd: string): Promise<Asked> {
  intro("create-mcp-server");
  const directory = given.directory ?? (await askDirectory(cwd));
  const name = given.name ?? (await askNameIfNeeded(directory, cwd));
  const answers: Record<string, unknown> = { ...context, ...given.choices };
  for (const [option, declaration] of optionList) {
    if (answers[option] !== undefined || !applies(declaration, answers)) continue;
    answers[option] = await ask(option, declaration, answers);
  }
  const choices = Object.fromEntries(optionList.map(([option]) => [option, answers[option]]));
  return { directory, name, choices };
}

async function askDirectory(cwd: string): Promise<string> {
  const typed = await text({
    message: "Where should the server go?",
    placeholder: defaultDirectory,
    defaultValue: defaultDirectory,
    validate: (value) => sentence(() => resolveTarget(value || defaultDirectory, cwd, undefined, existsSync)),
  });
  return given(typed);
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

/** What a check throws, as the sentence that a prompt shows under the input. */
function sentence(check: () => unknown): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof CommandError) return error.message;
    throw error;
  }
}
