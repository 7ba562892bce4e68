/** A word as a POSIX shell takes it literally (POSIX.1-2017, section 2.2 "Quoting"). */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
