/** The table that comes out: a row for each thing measured, a column for each run. */
export class Report {
  readonly #rows = new Map<string, string[]>();
  readonly #runs: string[] = [];
  #startedAt = 0;
  /** Figures of a warm-up are of no interest. */
  isMuted = false;

  begin(run: string): void {
    this.#runs.push(run);
    this.#startedAt = performance.now();
  }

  /** Notes a figure of the current run, and says at once that the run has come so far. */
  row(title: string, figure: string | number): void {
    if (this.isMuted) return;
    const cells = this.#rows.get(title) ?? [];
    cells[this.#runs.length - 1] = String(figure);
    this.#rows.set(title, cells);
    console.error(`${this.#runs.at(-1)}, ${this.seconds} s: ${title}: ${figure}`);
  }

  /** How long the current run has taken. */
  get seconds(): string {
    return ((performance.now() - this.#startedAt) / 1000).toFixed(0);
  }

  toString(): string {
    const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
    const rows = [...this.#rows].map(([title, cells]) =>
      line([title, ...this.#runs.map((_, index) => cells[index] ?? "–")]),
    );
    return [line(["what", ...this.#runs]), `|---|${"---|".repeat(this.#runs.length)}`, ...rows].join("\n");
  }
}

export const mb = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
