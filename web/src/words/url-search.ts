/** Search params as readable query strings (`?status=failed&status=retrying`). */
export type UrlSearch = Record<string, string | string[]>;

export function parseUrlSearch(text: string): UrlSearch {
  const search: UrlSearch = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const before = search[name];
    search[name] = before === undefined ? value : [...[before].flat(), value];
  }
  return search;
}

export function writeUrlSearch(search: Record<string, unknown>): string {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    const values: unknown[] = Array.isArray(value) ? value : [value];
    for (const one of values) {
      if (typeof one === 'string' && one !== '') words.append(name, one);
      if (typeof one === 'number') words.append(name, String(one));
    }
  }
  const text = words.toString();
  return text === '' ? '' : `?${text}`;
}

/** The search of a list whose only param is the page. */
export function cursorSearch(search: Record<string, unknown>): { cursor?: string } {
  const cursor = textOf(search, 'cursor');
  return cursor === undefined ? {} : { cursor };
}

/** The first value of a name. */
export function textOf(search: Record<string, unknown>, name: string): string | undefined {
  const value = search[name];
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' && first !== '' ? first : undefined;
}
