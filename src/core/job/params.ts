import { SEALED } from '../access/sealed.ts';
import { notJson } from '../values/strict-json.ts';

/**
 * Limits for params: any JSON, small enough that one job cannot hurt others. The walk stops at the
 * first violation, so a hostile value costs no more than a good one. Strings are
 * kept exactly, NUL and lone surrogates included: the column is `json`, which stores the text. The
 * key `__proto__` is refused because handlers that copy objects would set a prototype, and
 * `$sealed` because it marks encrypted values (`sealed.ts`).
 */

export const PARAMS_MAX_BYTES = 131_072;
export const PARAMS_MAX_DEPTH = 10;
export const PARAMS_MAX_KEYS = 500;
/** Where large values are allowed. */
export const LARGE_PARAMS_MAX_KEYS = 500_000;

export type ParamsCheck =
  | { ok: true; json: string }
  | { ok: false; code: 'PAYLOAD_INVALID' | 'PAYLOAD_TOO_LARGE'; pointer: string; detail: string };

type Breach = Extract<ParamsCheck, { ok: false }>;

/** `maxBytes` is more than the default where large values are stored elsewhere. */
export function checkParams(params: unknown, maxBytes = PARAMS_MAX_BYTES): ParamsCheck {
  const keysMax = maxBytes > PARAMS_MAX_BYTES ? LARGE_PARAMS_MAX_KEYS : PARAMS_MAX_KEYS;
  const breach = new Walk(maxBytes, keysMax).breach(params, 0);
  if (breach) return breach;
  const json = JSON.stringify(params);
  const bytes = utf8Length(json, maxBytes);
  return bytes > maxBytes ? tooLarge(`${bytes}`, maxBytes) : { ok: true, json };
}

function tooLarge(bytes: string, maxBytes: number): Breach {
  const detail =
    `params are ${bytes} bytes as JSON, the limit is ${maxBytes}: ` +
    `store large data elsewhere and pass a reference`;
  return { ok: false, code: 'PAYLOAD_TOO_LARGE', pointer: '', detail };
}

function invalid(pointer: string, detail: string): Breach {
  return { ok: false, code: 'PAYLOAD_INVALID', pointer, detail };
}

/** Its depth is bounded by the limit, so a hostile value cannot exhaust the stack. */
class Walk {
  readonly #maxBytes: number;
  readonly #keysMax: number;
  #keys = 0;

  constructor(maxBytes: number, keysMax: number) {
    this.#maxBytes = maxBytes;
    this.#keysMax = keysMax;
  }

  breach(value: unknown, depth: number): Breach | null {
    if (typeof value !== 'object' || value === null) {
      const detail = scalarBreach(value);
      return detail === null ? null : invalid('', detail);
    }
    const unfit = notJson(value);
    if (unfit !== null) return invalid('', `${unfit} is not JSON`);
    if (depth + 1 > PARAMS_MAX_DEPTH) {
      return invalid('', `params nest deeper than ${PARAMS_MAX_DEPTH} levels`);
    }
    return Array.isArray(value)
      ? this.#inArray(value, depth)
      : this.#inObject(value as Record<string, unknown>, depth);
  }

  #inArray(items: readonly unknown[], depth: number): Breach | null {
    // Every item takes at least two bytes, so this array is too large without a look at each item.
    // The items are unchecked and may nest without end, so JSON.stringify must not see them either.
    if (items.length > this.#maxBytes / 2) {
      return tooLarge(`more than ${2 * items.length}`, this.#maxBytes);
    }
    for (let index = 0; index < items.length; index += 1) {
      const breach = this.breach(items[index], depth + 1);
      if (breach) return within(breach, String(index));
    }
    return null;
  }

  #inObject(fields: Record<string, unknown>, depth: number): Breach | null {
    for (const key of Object.keys(fields)) {
      this.#keys += 1;
      if (this.#keys > this.#keysMax) {
        return invalid('', `params have more than ${this.#keysMax} keys in all`);
      }
      if (key === '__proto__') {
        return within(invalid('', 'the key __proto__ is not allowed'), key);
      }
      if (key === SEALED) {
        const detail = `the key ${SEALED} is not allowed: it marks encrypted values`;
        return within(invalid('', detail), key);
      }
      const item = fields[key];
      // JSON leaves out undefined fields.
      if (item === undefined) continue;
      const breach = this.breach(item, depth + 1);
      if (breach) return within(breach, key);
    }
    return null;
  }
}

/** The breach as the value around it reports it. Its size is that of all params. */
function within(breach: Breach, key: string): Breach {
  if (breach.code === 'PAYLOAD_TOO_LARGE') return breach;
  return { ...breach, pointer: `/${escapePointer(key)}${breach.pointer}` };
}

function scalarBreach(value: unknown): string | null {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return null;
  if (typeof value !== 'number') return `a value of type ${typeof value} is not JSON`;
  return Number.isFinite(value) ? null : 'a number is too large for JSON';
}

export function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The exact length in UTF-8, counted only when the text may be too long. */
export function utf8Length(text: string, enough: number): number {
  return text.length * 3 <= enough ? text.length : new TextEncoder().encode(text).length;
}
