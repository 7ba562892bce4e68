import pty from "@lydell/node-pty";
import xterm from "@xterm/headless";
import { entry, gitIdentity, type RunOptions } from "./command.ts";

export const keys = {
  enter: "\r",
  down: "\u001b[B",
  ctrlC: "\u0003",
  ctrlD: "\u0004",
  escape: "\u001b",
} as const;

/** The command in a real pseudo-terminal of 80 by 24, with a terminal emulator that shows what a person would see. */
export class TerminalSession {
  readonly exitCode: Promise<number>;
  #pty: pty.IPty;
  #screen = new xterm.Terminal({ cols: 80, rows: 24, scrollback: 1000, allowProposedApi: true });
  #waiting = new Set<() => void>();

  constructor(args: readonly string[], options: RunOptions) {
    this.#pty = pty.spawn(process.execPath, [entry, ...args], {
      cols: 80,
      rows: 24,
      cwd: options.cwd,
      env: {
        PATH: [...(options.path ? [options.path] : []), process.env.PATH].join(":"),
        HOME: options.cwd,
        TERM: "xterm-256color",
        ...gitIdentity,
        ...options.env,
      },
    });
    this.#pty.onData((data) => this.#screen.write(data, () => this.#changed()));
    this.exitCode = new Promise((resolve) => {
      this.#pty.onExit(({ exitCode }) => {
        // What was written last may still be on its way to the screen.
        this.#screen.write("", () => resolve(exitCode));
        this.#changed();
      });
    });
  }

  /** Everything that is or was on the screen, line by line. */
  text(): string {
    const buffer = this.#screen.buffer.active;
    const lines = Array.from(
      { length: buffer.length },
      (_, row) => buffer.getLine(row)?.translateToString(true) ?? "",
    );
    return lines.join("\n").trimEnd();
  }

  type(text: string): void {
    this.#pty.write(text);
  }

  /** Resolves when the screen shows a text. */
  async shows(text: string | RegExp): Promise<void> {
    const found = () => (typeof text === "string" ? this.text().includes(text) : text.test(this.text()));
    const deadline = AbortSignal.timeout(20_000);
    while (!found()) {
      await new Promise<void>((resolve, reject) => {
        deadline.onabort = () => reject(new Error(`never on the screen: ${text}\n${this.text()}`));
        this.#waiting.add(resolve);
      });
    }
    deadline.onabort = null;
  }

  kill(signal: string): void {
    this.#pty.kill(signal);
  }

  /** Ends the command, if it still runs. */
  close(): void {
    try {
      this.#pty.kill("SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }

  #changed(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }
}
