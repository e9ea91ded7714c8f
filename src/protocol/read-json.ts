import { InexactNumber, parseInSteps } from '../core/values/exact-json.ts';
import { type JsonLimits, JsonTooComplex } from '../core/values/json-scan.ts';
import { Refusal } from './refusal.ts';

/** The most bytes of one job, as the body of a request or of a message of a broker. */
export const BODY_MAX_BYTES = 1024 * 1024;

/**
 * Limits of a body. One job has up to 500 names or a list of 65,536 numbers; a batch has many jobs.
 * A value takes about 100 bytes of memory, however short it is in the body.
 */
export const JOB_LIMITS: JsonLimits = { valuesMax: 100_000, depthMax: 100 };
export const BATCH_LIMITS: JsonLimits = { ...JOB_LIMITS, valuesMax: 500_000 };

/** Parses JSON in UTF-8, with a yield where a server may do other work. Throws a `Refusal`. */
export function* readJson(body: Uint8Array, limits: JsonLimits): Generator<undefined, unknown> {
  try {
    return yield* parseInSteps(body, limits, decode);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    if (error instanceof JsonTooComplex) {
      throw new Refusal('JSON_TOO_COMPLEX', `the body is too complex: ${error.message}`);
    }
    if (error instanceof InexactNumber) {
      const { message: detail } = error;
      throw new Refusal('VALIDATION_FAILED', detail, { errors: [{ pointer: '', detail }] });
    }
    // The parser's message contains only the position and the caller's own text.
    const reason = error instanceof SyntaxError ? error.message : 'cannot be parsed';
    throw new Refusal('INVALID_JSON', `the body is not JSON: ${reason.slice(0, 200)}`);
  }
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/** Invalid bytes are refused, not replaced: the stored value must be what was sent. */
function decode(body: Uint8Array): string {
  try {
    return UTF_8.decode(body);
  } catch {
    throw new Refusal('INVALID_JSON', 'the body is not UTF-8');
  }
}
