/** @module Quotes a word for a POSIX shell. */
/** A word as a POSIX shell reads it back unchanged: bare where that is safe, single-quoted otherwise. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
