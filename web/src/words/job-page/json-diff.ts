/** What differs between two JSON values. */
export interface Difference {
  /** `items[2].price`; empty for the whole value. */
  path: string;
  /** Absent values are undefined. */
  a: unknown;
  b: unknown;
}

export interface JsonDiff {
  differences: Difference[];
  /** Further differences were not looked for. */
  cut: boolean;
}

const DIFFERENCES_MAX = 200;

/** Objects are compared by name and lists by position. */
export function jsonDiff(a: unknown, b: unknown): JsonDiff {
  const differences: Difference[] = [];
  collect(a, b, '', differences);
  const cut = differences.length > DIFFERENCES_MAX;
  return { differences: differences.slice(0, DIFFERENCES_MAX), cut };
}

function collect(a: unknown, b: unknown, path: string, found: Difference[]): void {
  if (found.length > DIFFERENCES_MAX || Object.is(a, b)) return;
  if (!isInner(a) || !isInner(b) || Array.isArray(a) !== Array.isArray(b)) {
    found.push({ path, a, b });
    return;
  }
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  for (const name of names) {
    collect(own(a, name), own(b, name), join(path, name, Array.isArray(a)), found);
  }
}

function isInner(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** A field may be named `__proto__`. */
function own(value: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function join(path: string, name: string, isList: boolean): string {
  if (isList) return `${path}[${name}]`;
  if (!/^[A-Za-z_$][\w$-]*$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}
