/**
 * Which definitions a worker with a key may serve: names, or patterns with `*` for any text. Null
 * means all.
 */
export const PATTERN_SHAPE = /^[A-Za-z0-9._:/*-]{1,200}$/;

export function mayServe(patterns: readonly string[] | null, key: string): boolean {
  return patterns === null || patterns.some((pattern) => matches(pattern, key));
}

function matches(pattern: string, key: string): boolean {
  const [head = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return key === pattern;
  if (!key.startsWith(head)) return false;
  const tail = rest.pop() ?? '';
  let at = head.length;
  for (const part of rest) {
    const found = key.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return key.length - tail.length >= at && key.endsWith(tail);
}
