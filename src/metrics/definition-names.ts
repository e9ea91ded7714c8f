/** Each definition is some ninety time series; a cluster with more of them should not drown Prometheus. */
const DEFINITIONS_MAX = 100;

const OTHER = 'other';

/**
 * What definitions are called in labels. Only the first ones have their own name, in the order in which
 * they were first used: so a name never turns into another one, and counters only grow.
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
