/** Files of definitions that a worker could not load, as it tells them to the server. */

export const NOT_LOADED_MAX = 20;
export const NOT_LOADED_CHARS_MAX = 500;

/** One line each, shortened; a long list ends with the number of the others. */
export function shownProblems(problems: readonly string[]): string[] {
  const lines = problems.map((text) => shortened(text.replaceAll(/\s+/g, ' ').trim()));
  if (lines.length <= NOT_LOADED_MAX) return lines;
  const shown = lines.slice(0, NOT_LOADED_MAX - 1);
  return [...shown, `${lines.length - shown.length} more files: see the log of the worker`];
}

function shortened(text: string): string {
  if (text.length <= NOT_LOADED_CHARS_MAX) return text;
  return `${text.slice(0, NOT_LOADED_CHARS_MAX - 1)}…`;
}

/** The file or definition, and the reason; the whole text is the reason if it names none. */
export function problemParts(text: string): { subject: string | null; reason: string } {
  const at = text.indexOf(': ');
  return at < 0
    ? { subject: null, reason: text }
    : { subject: text.slice(0, at), reason: text.slice(at + 2) };
}
