/**
 * Texts from jobs reach a terminal, and whoever wrote them must not be able to move its cursor, set
 * its title or turn the reading direction around: controls are shown as escapes. C1 controls count
 * too, since some terminals take U+009B for the start of a sequence.
 */
const DANGEROUS = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu;

/** On one line: line ends are escaped as well. */
export function printable(text: string): string {
  return text.toWellFormed().replaceAll(DANGEROUS, escape);
}

/** On many lines: only the line ends keep their meaning. */
export function printableLines(text: string): string[] {
  return text.split(/\r?\n/).map(printable);
}

/** JSON whose strings are safe to print. Outside of strings JSON has no controls but line ends. */
export function printableJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent) ?? 'null';
  return text.replaceAll(DANGEROUS, (character) =>
    character === '\n' ? '\n' : unicode(character),
  );
}

function escape(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\r') return '\\r';
  return character === '\t' ? '\\t' : unicode(character);
}

function unicode(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
