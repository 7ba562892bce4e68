import { closest, distance } from "fastest-levenshtein";

/** The candidate that a mistyped word most likely meant, or nothing when none is near. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const candidate = closest(word, candidates);
  return distance(word, candidate) <= Math.max(1, Math.floor(word.length / 3)) ? candidate : undefined;
}
