/** The fields that a change has in plain words instead of JSON. */
const NAMES: Record<string, string> = {
  concurrencyLimit: 'limit',
  concurrencyKeyLimit: 'limit per key',
  spread: 'shards',
  weight: 'weight',
  enabled: 'enabled',
  reason: 'reason',
};

/**
 * A change of an audit entry: "limit: 1 → 4" where both sides have plain values, else the JSON of
 * both; empty if the entry has none.
 */
export function changeWords(
  before: unknown,
  after: unknown,
  replace?: (name: string, value: unknown) => unknown,
): string {
  const sides = [before, after].filter((side) => !isNothing(side));
  return (
    plainChange(before, after) ?? sides.map((side) => JSON.stringify(side, replace)).join(' → ')
  );
}

function plainChange(before: unknown, after: unknown): string | null {
  if (!isFields(before) || !isFields(after)) return null;
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = names.filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  const arePlain = changed.every(
    (name) => name in NAMES && isPlain(before[name]) && isPlain(after[name]),
  );
  if (changed.length === 0 || !arePlain) return null;
  return changed
    .map((name) => `${NAMES[name]}: ${valueWords(before[name])} → ${valueWords(after[name])}`)
    .join(', ');
}

/** What is made has no earlier side. */
function isNothing(side: unknown): boolean {
  return side === null || side === undefined || (isFields(side) && Object.keys(side).length === 0);
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isPlain(value: unknown): boolean {
  return value === null || typeof value !== 'object';
}

/** A limit of 0 means no limit; a field that was not set has the value of the code. */
function valueWords(value: unknown): string {
  return value === undefined || value === null || value === 0 ? 'none' : String(value);
}
