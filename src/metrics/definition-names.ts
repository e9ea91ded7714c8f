/** Each definition is about ninety time series; this bounds their number. */
const DEFINITIONS_MAX = 100;

const OTHER = 'other';

/**
 * The label values of definitions. Only the first ones, in order of first use, have their own name:
 * so a name never changes, and counters only grow.
 */
export function definitionNames(
  used: readonly { key: string; first: number }[],
  max = DEFINITIONS_MAX,
): (key: string) => string {
  const firsts = new Map<string, number>();
  for (const { key, first } of used) {
    firsts.set(key, Math.min(first, firsts.get(key) ?? Number.POSITIVE_INFINITY));
  }
  const ordered = [...firsts].sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1));
  const named = new Set(ordered.slice(0, max).map(([key]) => key));
  return (key) => (named.has(key) ? key : OTHER);
}
