import packageJson from "../package.json" with { type: "json" };
import type { CreateResult } from "./create.ts";
import { Cancelled, CommandError, exitCode } from "./errors.ts";
import { helpText } from "./help.ts";
import { type CommandLine, parseCommandLine } from "./options/flags.ts";
import { type Output, plainOutput } from "./report/output.ts";

/** Runs the command and returns its exit code; every failure has been reported by then. */
export async function main(argv: readonly string[]): Promise<number> {
  // Who reads the output may have gone (`| head -1`); that is no reason to leave the work undone.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  const machine = argv.includes("--json");
  const output = plainOutput(machine ? process.stderr : process.stdout);
  try {
    const line = parseCommandLine(argv);
    if (line.help) output.say(helpText(packageJson.version));
    else if (line.version) output.say(packageJson.version);
    else await runCreate(line, output);
    return exitCode.done;
  } catch (error) {
    return report(error, machine, argv.includes("--debug"));
  }
}

async function runCreate(line: CommandLine, plain: Output): Promise<void> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    // Not `once`: a signal that nobody listens to any more ends the process before it could say anything.
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(exitCode.cancelled);
      stop.abort(new Cancelled("Cancelled; nothing was written"));
    });
  }
  const interactive = !line.yes && !line.json && Boolean(process.stdin.isTTY && process.stdout.isTTY);
  // Ctrl-D ends the input: nothing is left to wait for, and the question would never be answered.
  if (interactive) process.once("beforeExit", () => stop.abort());
  const output = interactive ? (await import("./wizard/terminal-output.ts")).terminalOutput : plain;
  const { create } = await import("./create.ts");
  const result = await create(line, interactive, output, stop.signal);
  if (line.json) process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
  // Plain also in a terminal: commands are there to be copied.
  else summarise(result, plain);
}

function summarise(result: CreateResult, output: Output): void {
  if (result.dryRun) output.say([`Would write to ${result.directory}:`, ...result.files].join("\n  "));
  if (result.dryRun) for (const note of result.notes) output.say(`Note: ${note}`);
  if (!result.dryRun) output.say(["\nNext:", ...result.nextSteps].join("\n  "));
  output.say(`\nThe same project again:\n  ${result.reproduce}`);
}

function report(error: unknown, machine: boolean, debug: boolean): number {
  const known = error instanceof CommandError;
  const code = known ? error.exitCode : exitCode.failed;
  const message = error instanceof Error ? error.message : String(error);
  const advice = known ? error.advice : "This is a defect; run again with --debug to see where.";
  if (message !== "") process.stderr.write(`Error: ${[message, advice].filter(Boolean).join("\n")}\n`);
  if (debug && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  if (machine) process.stdout.write(`${JSON.stringify({ error: { code, message, advice } }, null, 2)}\n`);
  return code;
}
