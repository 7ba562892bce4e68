/** The exit codes of the command; a program may rely on them. */
export const exitCode = { done: 0, failed: 1, usage: 2, cancelled: 130 } as const;

/** A failure that a person can act on: one sentence that says what happened, and one that says what to do next. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
  readonly exitCode: number = exitCode.failed;
  readonly advice: string | undefined;

  constructor(message: string, advice?: string, cause?: unknown) {
    super(message, { cause });
    this.advice = advice;
  }
}

/** The command line itself was wrong: an unknown flag, a bad value, a bad name, something missing. */
export class UsageError extends CommandError {
  override readonly name = "UsageError";
  override readonly exitCode = exitCode.usage;

  constructor(message: string, advice = "Run with --help to see all flags.") {
    super(message, advice);
  }
}

/** The person changed their mind (Ctrl-C, Escape in the wizard). */
export class Cancelled extends CommandError {
  override readonly name = "Cancelled";
  override readonly exitCode = exitCode.cancelled;
}
