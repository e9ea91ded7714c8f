import { type JsonFindings, type JsonLimits, scanJson } from './json-scan.ts';

/** A number in JSON that JavaScript would change. */
export class InexactNumber extends Error {
  constructor(source: string) {
    super(`the number ${source.slice(0, 40)} would be rounded: send it as text`);
  }
}

const NO_LIMITS: JsonLimits = { valuesMax: Infinity, depthMax: Infinity };

/**
 * Parses JSON and refuses whole numbers that JavaScript would change: other languages have ids of
 * nineteen digits, and the job would get the wrong id. Fractions may be rounded.
 */
export function parseExactly(text: string): unknown {
  const { inexact } = atOnce(scanJson(new TextEncoder().encode(text), NO_LIMITS));
  const value = JSON.parse(text) as unknown;
  if (inexact !== null) throw new InexactNumber(inexact);
  return value;
}

/**
 * The same in steps, for texts from outside. Throws `JsonTooComplex` before anything is decoded or
 * parsed. A long list, such as the jobs of a batch, is parsed in parts with a yield after each, so
 * that a server can answer other requests in between.
 */
export function* parseInSteps(
  bytes: Uint8Array,
  limits: JsonLimits,
  decode: (bytes: Uint8Array) => string,
): Generator<undefined, unknown> {
  const findings = yield* scanJson(bytes, limits);
  const value = yield* parseParts(bytes, findings, decode);
  if (findings.inexact !== null) throw new InexactNumber(findings.inexact);
  return value;
}

/** A list shorter than this is parsed with the rest; a longer one in parts of about this size. */
const LONG_LIST_BYTES = 262_144;
const PART_BYTES = 65_536;

function* parseParts(
  bytes: Uint8Array,
  { list }: JsonFindings,
  decode: (bytes: Uint8Array) => string,
): Generator<undefined, unknown> {
  const isLong = list && list.end - list.start >= Math.max(LONG_LIST_BYTES, bytes.length / 2);
  if (!isLong || list.commas.length === 0) return JSON.parse(decode(bytes));
  const { start, end, commas } = list;
  const [head, tail] = [decode(bytes.subarray(0, start)), decode(bytes.subarray(end + 1))];
  // Parses the rest twice with two placeholders instead of the list: the value that differs is the
  // list. What must not stand next to a list, such as a sign or a digit, must not stand next to a
  // string either.
  const [one, other] = ['0', '1'].map((mark) => JSON.parse(`${head}"${mark}"${tail}`) as Fields);
  if (!one || !other) throw new Error('there are two');
  const entries: unknown[] = [];
  let from = start + 1;
  for (const stop of [...commas, end]) {
    if (stop - from < PART_BYTES && stop !== end) continue;
    // Includes the byte before, a bracket or a comma: at the very start, a byte order mark would be
    // dropped.
    const text = decode(bytes.subarray(from - 1, stop)).slice(1);
    const part = JSON.parse(`[${text}]`) as unknown[];
    // An empty part comes from a trailing comma, which the parser rejects.
    if (part.length === 0) throw new SyntaxError('a list ends with a comma');
    for (const entry of part) entries.push(entry);
    from = stop + 1;
    yield;
  }
  // The last of duplicate names wins, as in the parser: then the placeholder may be gone.
  const name = Object.keys(one).find((key) => one[key] === '0' && other[key] === '1');
  // defineProperty, because a name may be `__proto__`.
  if (name !== undefined) Object.defineProperty(one, name, { value: entries });
  return one;
}

type Fields = Record<string, unknown>;

export function atOnce<T>(steps: Iterator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
