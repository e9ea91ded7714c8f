/**
 * JSON without the changes that JSON.stringify makes without a word: it turns NaN into null, drops
 * functions, and empties a Map, an Error, a Response, or a promise that nobody awaited. A value with
 * `toJSON`, such as a Date, is what it says it is, and a field that is undefined is not there.
 */
export function strictJson(value: unknown): string {
  // It answers undefined for undefined, also when a `toJSON` is what returned it.
  return JSON.stringify(value, refuse) ?? 'null';
}

/** What a value is that JSON has no words for; null when it has. */
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

/** What keeps its state elsewhere than in fields, and has no say in how it is written. */
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
