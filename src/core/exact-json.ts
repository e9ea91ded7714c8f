/** Digits that a JavaScript number may not hold. Shorter ones it always does. */
const LONG = /\d{16}/;
const WHOLE = /^-?\d{16,}$/;

/** A number in JSON that would be read as another one. */
export class InexactNumber extends Error {
  constructor(source: string) {
    super(`the number ${source.slice(0, 40)} would be rounded: send it as text`);
  }
}

/**
 * Reads JSON, and refuses whole numbers that would come out as others: other languages have ids of
 * nineteen digits, and the job would be about somebody else's. Fractions are rounded by everybody.
 */
export function parseExactly(text: string): unknown {
  if (LONG.test(text)) JSON.parse(text, refuseRounded);
  return JSON.parse(text) as unknown;
}

function refuseRounded(_key: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source ?? '';
  if (typeof value !== 'number' || !WHOLE.test(source)) return value;
  // What is written as it came is what a JavaScript caller had, whose numbers these are.
  if (String(value) === source || !Number.isFinite(value)) return value;
  if (BigInt(source) === BigInt(value)) return value;
  throw new InexactNumber(source);
}
