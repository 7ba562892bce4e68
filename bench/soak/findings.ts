import type { OutgoingHttpHeaders } from "node:http";

/** The tokens that the server knows: what must never come back, nor be logged. */
export const tokens = {
  alice: "alice-3f9c1e7ab2d84650",
  bob: "bob-77c0d1f2a4e94b38",
} as const;

export const bearer = { authorization: `Bearer ${tokens.alice}` } satisfies OutgoingHttpHeaders;

/** What no answer and no line of the log may have in it. */
const leaks: readonly (readonly [string, RegExp])[] = [
  ["a secret", new RegExp(Object.values(tokens).join("|"))],
  ["a stack", / {4}at \S/],
  ["a path", /node_modules|file:\/\/|\/(?:dist|src)\/|create-mcp-server-bench-|\.[cm]?[jt]s:\d/],
];
const html = /<!doctype|<html|<pre>/i;

/** What a run has found out: what came how often, and what should not have come. */
export class Findings {
  readonly statuses = new Map<number, number>();
  readonly #problems = new Map<string, { count: number; example: string }>();
  answers = 0;
  leaks = 0;
  /** The 503 that says so is documented; no other 5xx is. */
  tooManySessions = 0;

  /** Notes what should not be; of each kind of problem, the first one is kept as an example. */
  problem(kind: string, example = ""): void {
    const known = this.#problems.get(kind);
    if (known) known.count++;
    else this.#problems.set(kind, { count: 1, example: example.slice(0, 500) });
  }

  expect(holds: boolean, otherwise: string, example = ""): void {
    if (!holds) this.problem(otherwise, example);
  }

  get problems(): string[] {
    return [...this.#problems].map(([kind, { count, example }]) => `${kind} (${count} times) ${example}`);
  }

  /** Notes an answer: its status, and whatever in it should not be there. */
  answer(status: number, text: string): void {
    this.answers++;
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    if (status === 503 && text.includes("Too many sessions")) this.tooManySessions++;
    else if (status >= 500) this.problem(`answered ${status}`, text);
    if (html.test(text)) this.problem("HTML in an answer", text);
    this.#scan(text, "an answer");
  }

  /** Notes a line of the log. */
  logLine(line: string): void {
    this.#scan(line, "the log");
    if (/"level":"(error|fatal)"/.test(line)) this.problem("the log has an error", line);
  }

  #scan(text: string, where: string): void {
    for (const [what, pattern] of leaks) {
      if (!pattern.test(text)) continue;
      this.leaks++;
      this.problem(`${what} in ${where}`, text);
    }
  }

  get otherServerErrors(): number {
    let sum = -this.tooManySessions;
    for (const [status, count] of this.statuses) if (status >= 500) sum += count;
    return sum;
  }
}
