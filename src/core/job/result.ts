import { utf8Length } from './params.ts';
import { strictJson } from '../values/strict-json.ts';

/**
 * The return value of a job as JSON text. Values that JSON would change are refused
 * (`strict-json.ts`), so that the stored result is what the job returned.
 */

export const RESULT_MAX_BYTES = 1_048_576;

export type ResultCheck =
  | { ok: true; json: string }
  | { ok: false; code: 'RESULT_INVALID' | 'RESULT_TOO_LARGE'; message: string; reason: string };

/** `maxBytes` is more than the default where large values are stored elsewhere. */
export function resultJson(value: unknown, maxBytes = RESULT_MAX_BYTES): ResultCheck {
  let json: string;
  try {
    json = strictJson(value);
  } catch (error) {
    if (error instanceof RangeError && error.message === 'Invalid string length') {
      return tooLarge('more than 500 MB', maxBytes);
    }
    const reason = error instanceof Error ? error.message : String(error);
    const message = `the job returned a value that is not JSON: ${reason}`;
    return { ok: false, code: 'RESULT_INVALID', message, reason };
  }
  const bytes = utf8Length(json, maxBytes);
  if (bytes > maxBytes) return tooLarge(`${bytes} bytes`, maxBytes);
  return { ok: true, json };
}

function tooLarge(size: string, maxBytes: number): ResultCheck {
  const message =
    `the job returned ${size} of JSON, the limit is ${maxBytes} bytes: ` +
    `store large results elsewhere and return a reference`;
  return { ok: false, code: 'RESULT_TOO_LARGE', message, reason: `it is ${size} of JSON` };
}
