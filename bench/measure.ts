import { spawnSync } from "node:child_process";

/** The middle of some figures. */
export function median(figures: readonly number[]): number {
  const sorted = figures.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] as number;
}

export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** Runs before each measured run, and is not measured. */
  readonly before?: () => void;
}

/** How long a program takes from start to end, in milliseconds. */
function wallTime({ command, args, cwd, before }: Program): number {
  before?.();
  const startedAt = performance.now();
  const { status } = spawnSync(command, args, { cwd, stdio: "ignore" });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}`);
  return performance.now() - startedAt;
}

export interface Comparison {
  readonly ms: number;
  readonly otherMs: number;
  /** The median of the ratios pair by pair: it holds when the machine's speed drifts. */
  readonly ratio: number;
}

/** Times two programs in turn, pair by pair. */
export function compare(program: Program, other: Program, pairs = 21): Comparison {
  const figures = Array.from(
    { length: pairs + 1 },
    () => [wallTime(program), wallTime(other)] as const,
  ).slice(1);
  return {
    ms: median(figures.map(([a]) => a)),
    otherMs: median(figures.map(([, b]) => b)),
    ratio: median(figures.map(([a, b]) => a / b)),
  };
}

/** One row of a report, with the budget that the ratio is held to. */
export function row(title: string, ratio: number, budget: string, figures: string): string {
  return `| ${title} | ${ratio.toFixed(2)} | ${budget} | ${figures} |`;
}

export const header = ["| what | ratio | budget | medians |", "|---|---|---|---|"];
