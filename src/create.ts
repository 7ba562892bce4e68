import { existsSync } from "node:fs";
import path from "node:path";
import { Cancelled, CommandError, UsageError } from "./errors.ts";
import { firstProblem, problemWithValues, unanswered, withDefaults } from "./options/answers.ts";
import { type Answers, type Choices, type OptionName, optionList } from "./options/declaration.ts";
import { type CommandLine, defaultDirectory } from "./options/flags.ts";
import { packageNameProblem, resolveTarget, type Target } from "./options/project-name.ts";
import { invokingPackageManager } from "./plan/package-managers.ts";
import { type PlannedFile, planProject } from "./plan/plan.ts";
import { nextSteps } from "./report/next-steps.ts";
import type { Output } from "./report/output.ts";
import { reproduceCommand } from "./report/reproduce.ts";
import { inspectTarget } from "./write/target.ts";
import { writeProject } from "./write/write-project.ts";

/** What `create` did, as `--json` prints it. */
export interface CreateResult {
  readonly directory: string;
  readonly name: string;
  readonly dryRun: boolean;
  readonly files: readonly string[];
  readonly installed: boolean;
  readonly committed: boolean;
  /** What a person should know and would not expect. */
  readonly notes: readonly string[];
  readonly nextSteps: readonly string[];
  /** The one command that makes the same project again. */
  readonly reproduce: string;
}

/** What has been decided before anything is written. */
interface Decision {
  readonly target: Target & { readonly name: string };
  readonly choices: Choices;
}

/** What is known once everything is done. */
type Outcome = Pick<CreateResult, "installed" | "committed" | "notes">;

/**
 * Creates a project: decides, plans, writes all or nothing, then installs and initialises git.
 *
 * @param interactive whether a person can be asked.
 * @throws UsageError, CommandError or Cancelled; see each step.
 */
export async function create(
  line: CommandLine,
  interactive: boolean,
  output: Output,
  signal: AbortSignal,
): Promise<CreateResult> {
  const cwd = currentDirectory();
  const decision = await decide(line, interactive, cwd, signal);
  const { target, choices } = decision;
  const files = planProject(answersOf(decision));
  const reproduce = reproduceCommand(path.basename(target.directory), explicitName(target), choices);
  const outcome = await (line.dryRun ? lookOnly(decision) : carryOut(decision, files, output, signal));
  return {
    directory: target.directory,
    name: target.name,
    dryRun: line.dryRun,
    files: files.map((file) => file.path),
    ...outcome,
    nextSteps: nextSteps(target.directory, cwd, choices, outcome.installed),
    reproduce,
  };
}

/** Node cannot say where it is once the directory was removed, or where its path is longer than a path may be. */
function currentDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    throw new CommandError("the current directory cannot be used", "Change to one that exists.", error);
  }
}

/** What a dry run does: everything is refused that would be, and nothing is written. */
function lookOnly({ target }: Decision): Outcome {
  inspectTarget(target.directory);
  return { installed: false, committed: false, notes: target.note ? [target.note] : [] };
}

async function carryOut(
  { target, choices }: Decision,
  files: readonly PlannedFile[],
  output: Output,
  signal: AbortSignal,
): Promise<Outcome> {
  const notes: string[] = [];
  // Said at once: a later step may fail, and then nobody would learn it.
  const note = (text: string | undefined) => {
    if (text === undefined) return;
    notes.push(text);
    output.say(`Note: ${text}`);
  };
  note(target.note);
  note(await writeProject(target.directory, files, signal));
  output.say(`Created ${files.length} files in ${target.directory}`);

  let failure: unknown;
  if (choices.install) {
    const { installDependencies } = await import("./finish/install.ts");
    output.say(`Installing with ${choices.pm} ...`);
    failure = await installDependencies(target.directory, choices.pm, signal).catch(
      (error: unknown) => error,
    );
  }
  // A failed install is no reason to do without the repository; a cancelled one is.
  if (failure instanceof Cancelled) {
    if (choices.git) note("no git repository was made");
    throw failure;
  }
  let committed = false;
  if (choices.git) {
    const { initialiseGit } = await import("./finish/git.ts");
    const outcome = await initialiseGit(target.directory, signal);
    committed = outcome.committed;
    note(outcome.note);
  }
  if (failure) throw failure;
  return { installed: choices.install, committed, notes };
}

/** Settles every question, by flag, by default or by asking, and refuses what cannot be. */
async function decide(
  line: CommandLine,
  interactive: boolean,
  cwd: string,
  signal: AbortSignal,
): Promise<Decision> {
  const context = { invokedBy: invokingPackageManager(process.env.npm_config_user_agent) };
  let { directory, name, choices } = line;
  if (interactive) {
    refuse(problemWithValues(choices, context));
    const { askMissing } = await import("./wizard/ask.ts");
    ({ directory, name, choices } = await askMissing({ directory, name, choices }, context, { cwd, signal }));
  } else if (line.yes) {
    directory ??= defaultDirectory;
  }
  refuse(firstProblem(choices, context));
  if (!line.yes) refuseMissing(directory, unanswered(choices, context));
  const target = resolveTarget(directory as string, cwd, name, existsSync);
  if (target.name === undefined) {
    throw new UsageError(
      `no package name can be made of "${path.basename(target.directory)}"`,
      "Pass one with --name, as in --name my-server.",
    );
  }
  return { target: { ...target, name: target.name }, choices: withDefaults(choices, context) };
}

function refuse(problem: string | undefined): void {
  if (problem !== undefined) throw new UsageError(problem);
}

/** Without a terminal there is nobody to ask: what is missing is named at once. */
function refuseMissing(directory: string | undefined, options: readonly OptionName[]): void {
  const missing = [
    ...(directory === undefined ? ["a directory"] : []),
    ...options.map((name) => `--${name}`),
  ];
  if (missing.length === 0) return;
  throw new UsageError(
    `nobody can be asked here (no terminal), and these are missing: ${missing.join(", ")}`,
    "Pass them, or --yes to take the defaults.",
  );
}

/** The package name, where it had to be given because the folder's name does not say it, or may not. */
function explicitName({ directory, name }: Decision["target"]): string | undefined {
  const folder = path.basename(directory);
  return folder === name && packageNameProblem(folder) === undefined ? undefined : name;
}

/** What the manifest records: the name and every choice that shapes the project. */
function answersOf({ target, choices }: Decision): Answers {
  const shaping = optionList.filter(([, option]) => option.scope === "project");
  return {
    name: target.name,
    ...Object.fromEntries(shaping.map(([name]) => [name, choices[name]])),
  } as Answers;
}
