import { type Choices, type OptionName, optionList } from "./declaration.ts";
import type { KnownAnswers, Option } from "./option.ts";

/** What the flags said: some of the options. */
export type GivenChoices = Partial<Choices>;

/** Whether an option applies, given the answers so far. */
export function applies(option: Option, answers: KnownAnswers): boolean {
  return option.when?.(answers) ?? true;
}

/** The default of an option, given the answers so far. */
export function defaultOf(option: Option, answers: KnownAnswers): unknown {
  return typeof option.default === "function" ? option.default(answers) : option.default;
}

/** Says what is wrong with an answer, or nothing. Choices and booleans cannot be wrong once they are parsed. */
export function problemWith(option: Option, value: unknown, answers: KnownAnswers): string | undefined {
  if (option.type === "text") return option.problem(value as string);
  if (option.type === "names") return option.problem(value as string[], answers);
  return undefined;
}

/** A first problem with the values given, whatever else is still to be asked; nothing when all is well. */
export function problemWithValues(given: GivenChoices, context: KnownAnswers): string | undefined {
  for (const [name, option] of optionList) {
    const problem =
      given[name] === undefined ? undefined : problemWith(option, given[name], { ...context, ...given });
    if (problem) return problem;
  }
  return undefined;
}

/** A first problem with what was given, taken together with the defaults of the rest; nothing when all is well. */
export function firstProblem(given: GivenChoices, context: KnownAnswers): string | undefined {
  const answers = { ...context, ...withDefaults(given, context) };
  for (const [name, option] of optionList) {
    if (given[name] !== undefined && !applies(option, answers) && !isNeutral(option, given[name])) {
      return `--${name} has no meaning here (${option.whenText})`;
    }
  }
  return problemWithValues(given, answers);
}

/** Whether an answer is the one that an option has where it does not apply: saying it is no contradiction. */
function isNeutral(option: Option, value: unknown): boolean {
  return option.type === "choice" && option.otherwise !== undefined && value === option.otherwise;
}

/** The options that have no answer yet and apply, in the order in which they are asked. */
export function unanswered(given: GivenChoices, context: KnownAnswers): OptionName[] {
  const answers = { ...context, ...withDefaults(given, context) };
  return optionList.flatMap(([name, option]) =>
    given[name] === undefined && applies(option, answers) ? [name] : [],
  );
}

/** Completes what was given with the defaults; an option that does not apply gets its neutral answer. */
export function withDefaults(given: GivenChoices, context: KnownAnswers): Choices {
  const answers: Record<string, unknown> = { ...context, ...given };
  const choices: Record<string, unknown> = {};
  for (const [name, option] of optionList) {
    answers[name] = choices[name] = answerTo(option, given[name], answers);
  }
  return choices as Choices;
}

function answerTo(option: Option, given: unknown, answers: KnownAnswers): unknown {
  if (!applies(option, answers)) return option.type === "choice" ? option.otherwise : given;
  if (option.type === "text" && typeof given === "string" && given.trim() === "") return option.default;
  return given ?? defaultOf(option, answers);
}
