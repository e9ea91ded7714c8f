import { SEALED } from '../access/sealed.ts';
import { notJson } from '../values/strict-json.ts';

/**
 * Limits for params: any JSON, small enough that one job cannot hurt others. The walk is iterative
 * and stops at the first violation, so a hostile value costs no more than a good one. Strings are
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
  const breach = walk(params, maxBytes, keysMax);
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

function walk(root: unknown, maxBytes: number, keysMax: number): Breach | null {
  const pending: { value: unknown; depth: number; pointer: string }[] = [
    { value: root, depth: 0, pointer: '' },
  ];
  let keys = 0;
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value, depth, pointer } = next;
    if (typeof value !== 'object' || value === null) {
      const detail = scalarBreach(value);
      if (detail) return invalid(pointer, detail);
      continue;
    }
    const unfit = notJson(value);
    if (unfit !== null) return invalid(pointer, `${unfit} is not JSON`);
    if (depth + 1 > PARAMS_MAX_DEPTH) {
      return invalid(pointer, `params nest deeper than ${PARAMS_MAX_DEPTH} levels`);
    }
    // Every item takes at least two bytes, so this array is too large without a look at each item.
    // The items are unchecked and may nest without end, so JSON.stringify must not see them either.
    if (Array.isArray(value) && value.length > maxBytes / 2) {
      return tooLarge(`more than ${2 * value.length}`, maxBytes);
    }
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) {
        pending.push({ value: item, depth: depth + 1, pointer: `${pointer}/${index}` });
      }
      continue;
    }
    for (const key of Object.keys(value)) {
      keys += 1;
      if (keys > keysMax) {
        return invalid(pointer, `params have more than ${keysMax} keys in all`);
      }
      const inner = `${pointer}/${escapePointer(key)}`;
      if (key === '__proto__') {
        return invalid(inner, 'the key __proto__ is not allowed');
      }
      if (key === SEALED) {
        return invalid(inner, `the key ${SEALED} is not allowed: it marks encrypted values`);
      }
      const item = (value as Record<string, unknown>)[key];
      // JSON leaves out undefined fields.
      if (item === undefined) continue;
      pending.push({ value: item, depth: depth + 1, pointer: inner });
    }
  }
  return null;
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
