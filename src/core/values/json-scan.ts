/**
 * Scans the bytes of a JSON text before it is parsed. It counts values and levels, so that a text
 * with millions of values is refused before the first is made, and it finds whole numbers that a
 * JavaScript number cannot hold. It visits each byte once and skips strings. The parser decides
 * whether the text is JSON.
 */
export interface JsonLimits {
  valuesMax: number;
  depthMax: number;
}

export interface JsonFindings {
  /** The first whole number that JavaScript would change. */
  inexact: string | null;
  /** The position of the largest list inside the outermost object, and its commas. */
  list: { start: number; end: number; commas: number[] } | null;
}

/** The text has too many values, or nests too deep. */
export class JsonTooComplex extends Error {
  override name = 'JsonTooComplex';
}

/** Numbers with fewer digits are always exact. */
const LONG_DIGITS = 16;
/** No finite number is longer; the parser makes Infinity of longer ones, or refuses them. */
const NUMBER_LENGTH_MAX = 400;
/** The scan yields after this many bytes. */
const PAUSE_BYTES = 131_072;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const MINUS = 0x2d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Throws `JsonTooComplex`. Yields regularly, so that the caller can do other work. */
export function* scanJson(
  bytes: Uint8Array,
  { valuesMax, depthMax }: JsonLimits,
): Generator<undefined, JsonFindings> {
  const findings: JsonFindings = { inexact: null, list: null };
  let values = 1;
  let depth = 0;
  let pauseAt = PAUSE_BYTES;
  let open: { start: number; commas: number[] } | null = null;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) {
      at = endOfString(bytes, at);
    } else if (byte === COMMA) {
      values += 1;
      if (depth === 2) open?.commas.push(at);
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      values += 1;
      depth += 1;
      if (depth > depthMax) throw new JsonTooComplex(`it nests deeper than ${depthMax} levels`);
      if (depth === 2) open = byte === OPEN_LIST ? { start: at, commas: [] } : null;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      if (depth === 2 && byte === CLOSE_LIST && open && isLarger(open.start, at, findings)) {
        findings.list = { ...open, end: at };
      }
      depth -= 1;
    } else if (isDigit(byte)) {
      const end = endOfNumber(bytes, at);
      if (findings.inexact === null && end - at >= LONG_DIGITS) {
        findings.inexact = inexactIn(bytes, at, end);
      }
      at = end - 1;
    }
    if (values > valuesMax) throw new JsonTooComplex(`it has more than ${valuesMax} values`);
    if (at < pauseAt) continue;
    pauseAt = at + PAUSE_BYTES;
    yield;
  }
  return findings;
}

function isLarger(start: number, end: number, { list }: JsonFindings): boolean {
  return list === null || end - start > list.end - list.start;
}

function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  for (; at < bytes.length && bytes[at] !== QUOTE; at += 1) if (bytes[at] === BACKSLASH) at += 1;
  return at;
}

/** The end of a number with fraction and exponent. */
function endOfNumber(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && isOfNumber(bytes[at] ?? 0)) at += 1;
  return at;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function isOfNumber(byte: number): boolean {
  return (
    isDigit(byte) || byte === 0x2e || byte === 0x2b || byte === MINUS || (byte | 0x20) === 0x65
  );
}

/** The digits of a whole number that JavaScript would change; otherwise null. */
function inexactIn(bytes: Uint8Array, start: number, end: number): string | null {
  if (end - start > NUMBER_LENGTH_MAX) return null;
  const digits = String.fromCharCode(...bytes.subarray(start, end));
  if (!/^\d+$/.test(digits)) return null;
  const value = Number(digits);
  // The text is exactly what JavaScript prints, so a JavaScript caller had this number.
  if (String(value) === digits || !Number.isFinite(value)) return null;
  if (BigInt(digits) === BigInt(value)) return null;
  return bytes[start - 1] === MINUS ? `-${digits}` : digits;
}
