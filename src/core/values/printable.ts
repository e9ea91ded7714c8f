/**
 * Text from jobs must not move the cursor, set the title or change the text direction of a
 * terminal: control characters are shown as escapes. This includes C1 controls, since some
 * terminals take U+009B as the start of a sequence.
 */
const DANGEROUS = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu;

/** One line: line breaks are escaped too. */
export function printable(text: string): string {
  return text.toWellFormed().replaceAll(DANGEROUS, escape);
}

/** Several lines: only line breaks are kept. */
export function printableLines(text: string): string[] {
  return text.split(/\r?\n/).map(printable);
}

/** A text as it is: line breaks and tabs are kept. */
export function printableText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(DANGEROUS, (character) =>
      /[\n\t]/.test(character) ? character : escape(character),
    );
}

/** JSON with safe strings. Outside of strings JSON has no controls but line breaks. */
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
