/** Where a command talks to people; what a program reads goes to stdout under `--json`. */
export interface Output {
  /** A line for people. */
  say(line: string): void;
  /** Runs a step that takes a while, and shows that it runs. */
  during<T>(title: string, step: () => Promise<T>): Promise<T>;
}

/** Plain lines, for pipes, logs and `--json`: no escape codes. */
export function plainOutput(stream: NodeJS.WritableStream): Output {
  const say = (line: string) => void stream.write(`${line}\n`);
  return {
    say,
    during(title, step) {
      say(`${title} ...`);
      return step();
    },
  };
}
