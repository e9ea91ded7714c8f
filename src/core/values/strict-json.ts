/**
 * JSON.stringify without its silent changes: it turns NaN into null, drops functions, and empties a
 * Map, an Error, a Response or a promise without await. All of these are refused. `toJSON` is used,
 * and undefined fields are left out.
 */
export function strictJson(value: unknown): string {
  // Most jobs return nothing.
  if (value === null || value === undefined) return 'null';
  // JSON.stringify returns undefined for undefined, also from a `toJSON`.
  return JSON.stringify(value, refuse) ?? 'null';
}

/** The name of a value that JSON cannot represent; otherwise null. */
export function notJson(value: unknown): string | null {
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint') {
    return `a ${typeof value}`;
  }
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (typeof value !== 'object' || value === null) return null;
  const parent: unknown = Object.getPrototypeOf(value);
  if (parent === Object.prototype || parent === null || Array.isArray(value)) return null;
  return isEmptied(value, parent) ? named(value) : null;
}

/** Objects without `toJSON` whose state is not in their fields. */
function isEmptied(value: object, parent: unknown): boolean {
  const ofAnotherRealm = Object.getPrototypeOf(parent) === null;
  if (ofAnotherRealm || Object.keys(value).length > 0) return false;
  return typeof (value as { toJSON?: unknown }).toJSON !== 'function';
}

function named(value: object): string {
  const tag = Object.prototype.toString.call(value).slice('[object '.length, -1);
  const name = tag === 'Object' ? value.constructor.name : tag;
  return `${/^[AEIOU]/.test(name) ? 'an' : 'a'} ${name}`;
}

function refuse(key: string, value: unknown): unknown {
  const what = notJson(value);
  if (what === null) return value;
  throw new TypeError(`${key === '' ? 'the value' : `"${key}"`} is ${what}`);
}
