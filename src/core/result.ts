import { utf8Length } from './params.ts';

/**
 * What a job returned, as JSON text. Without a word, JSON.stringify turns NaN into null, drops
 * functions and empties a promise that nobody awaited; a job whose result is not what it returned
 * would be a silent lie, so such values are refused. A value with `toJSON`, such as a Date, is what
 * it says it is.
 */

export const RESULT_MAX_BYTES = 1_048_576;

export type ResultCheck =
  | { ok: true; json: string }
  | { ok: false; code: 'RESULT_INVALID' | 'RESULT_TOO_LARGE'; message: string; reason: string };

class NotJson extends Error {}

export function resultJson(value: unknown): ResultCheck {
  let json: string;
  try {
    // JSON.stringify answers undefined for undefined, also when a `toJSON` is what returned it.
    json = JSON.stringify(value, refuseNonJson) ?? 'null';
  } catch (error) {
    if (error instanceof RangeError && error.message === 'Invalid string length') {
      return tooLarge('more than 500 MB');
    }
    const reason = error instanceof Error ? error.message : String(error);
    const message = `the job returned no JSON: ${reason}`;
    return { ok: false, code: 'RESULT_INVALID', message, reason };
  }
  const bytes = utf8Length(json, RESULT_MAX_BYTES);
  if (bytes > RESULT_MAX_BYTES) return tooLarge(`${bytes} bytes`);
  return { ok: true, json };
}

function tooLarge(size: string): ResultCheck {
  const message =
    `the job returned ${size} of JSON, the limit is ${RESULT_MAX_BYTES} bytes: ` +
    `store large results elsewhere and return a reference`;
  return { ok: false, code: 'RESULT_TOO_LARGE', message, reason: `it is ${size} of JSON` };
}

function refuseNonJson(key: string, value: unknown): unknown {
  const where = key === '' ? 'the value' : `"${key}"`;
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint') {
    throw new NotJson(`${where} is a ${typeof value}`);
  }
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new NotJson(`${where} is ${value}`);
  }
  if (value instanceof Promise || value instanceof Map || value instanceof Set) {
    throw new NotJson(`${where} is a ${value[Symbol.toStringTag]}`);
  }
  return value;
}
