/** Longest description in characters (Unicode code points). */
const longestDescription = 500;

/** Says what is wrong with a description, or nothing. All printable Unicode is welcome. */
export function descriptionProblem(text: string): string | undefined {
  const length = [...text].length;
  if (length > longestDescription) {
    return `the description has ${length} characters; at most ${longestDescription} are allowed`;
  }
  // Cc: control characters, line breaks among them. Cs: lone surrogates, which no encoding of a file can carry.
  if (/[\p{Cc}\p{Cs}]/u.test(text)) {
    return "the description has a control character or a line break; it must be one printable line";
  }
  return undefined;
}
