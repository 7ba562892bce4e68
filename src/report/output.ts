/** Where the command talks to people; what a program reads goes to stdout under `--json`. */
export interface Output {
  /** Shows a line, or a block of lines, for people. */
  say(text: string): void;
}

/** Plain lines, for pipes, logs and `--json`: no escape codes. */
export function plainOutput(stream: NodeJS.WritableStream): Output {
  return { say: (text) => void stream.write(`${text}\n`) };
}
