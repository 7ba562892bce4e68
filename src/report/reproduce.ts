import packageJson from "../../package.json" with { type: "json" };
import { applies, defaultOf } from "../options/answers.ts";
import { type Choices, optionList } from "../options/declaration.ts";
import { packageManagers } from "../plan/package-managers.ts";
import { shellWord } from "./shell.ts";

/**
 * The one command that makes the same project again: this version, the directory, and each flag that differs from
 * what `--yes` alone would choose.
 */
export function reproduceCommand(directory: string, name: string | undefined, choices: Choices): string {
  const { create, flagSeparator, name: pm } = packageManagers[choices.pm];
  const answers = { ...choices, invokedBy: pm };
  const flags = optionList.flatMap(([option, declaration]) => {
    const { type } = declaration;
    const value = choices[option];
    if (!applies(declaration, answers) || value === defaultOf(declaration, answers)) return [];
    if (type === "boolean") return [value ? `--${option}` : `--no-${option}`];
    if (type === "names" && !(value as string[]).length) return [];
    // In one word: a value of its own that begins with a dash would be taken for a flag.
    return [`--${option}=${shellWord(String(value))}`];
  });
  const packageName = name === undefined ? [] : ["--name", shellWord(name)];
  const creator = create.replace(/(@latest)?$/, `@${packageJson.version}`);
  return `${creator} ${shellWord(directory)} ${flagSeparator}${["--yes", ...packageName, ...flags].join(" ")}`;
}
