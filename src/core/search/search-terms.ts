/**
 * The parts of a search text: `status:failed owner:billing "two words" timeout`. A filter is a name,
 * a colon and a value; everything else is a word. Quotation marks keep spaces together, and `\"`
 * within them is a quotation mark.
 */
export interface SearchTerm {
  /** Null for a word. */
  name: string | null;
  value: string;
  quoted: boolean;
  /** False when the closing quotation mark is missing. */
  closed: boolean;
  /** Where the term stands in the text, and where its value begins. */
  from: number;
  valueFrom: number;
  to: number;
}

const NAME = /([A-Za-z]+):(?!\/\/)/y;
const QUOTED = /"((?:[^"\\]|\\.)*)("?)/y;
const PLAIN = /[^\s]*/y;
const SPACE = /\s*/y;

export function searchTerms(text: string): SearchTerm[] {
  const terms: SearchTerm[] = [];
  let at = skip(text, 0);
  while (at < text.length) {
    const from = at;
    const name = matchAt(NAME, text, from)?.[1]?.toLowerCase() ?? null;
    const valueFrom = name === null ? from : from + name.length + 1;
    const quotation = matchAt(QUOTED, text, valueFrom);
    const [whole, inner = '', end] = quotation ?? matchAt(PLAIN, text, valueFrom) ?? [''];
    const to = valueFrom + whole.length;
    const value = quotation ? inner.replaceAll(/\\(.)/g, '$1') : whole;
    const closed = quotation === null || end === '"';
    terms.push({ name, value, quoted: quotation !== null, closed, from, valueFrom, to });
    at = skip(text, to);
  }
  return terms;
}

/** A term as text, with quotation marks where they are needed. */
export function writeTerm(name: string | null, value: string, quoted = false): string {
  const isName = name === null && (matchAt(NAME, value, 0)?.[0] ?? value) !== value;
  const plain = value !== '' && !quoted && !isName && !/\s|^"/.test(value);
  const written = plain ? value : `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
  return name === null ? written : `${name}:${written}`;
}

function skip(text: string, at: number): number {
  return at + (matchAt(SPACE, text, at)?.[0].length ?? 0);
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
