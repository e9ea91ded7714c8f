/**
 * JSON without the changes that JSON.stringify makes without a word: it turns NaN into null, drops
 * functions, and empties a Map, or a promise that nobody awaited. A value with `toJSON`, such as a
 * Date, is what it says it is, and a field that is undefined is not there.
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
  if (value instanceof Promise || value instanceof Map || value instanceof Set) {
    return `a ${value[Symbol.toStringTag]}`;
  }
  return null;
}

function refuse(key: string, value: unknown): unknown {
  const what = notJson(value);
  if (what === null) return value;
  throw new TypeError(`${key === '' ? 'the value' : `"${key}"`} is ${what}`);
}
