/** A filter as a query string: lists repeat their name, undefined fields are omitted. */
export function queryOf(filter: object): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter) as [string, unknown][]) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) query.append(name, one instanceof Date ? one.toISOString() : `${one}`);
    }
  }
  return query;
}

/** The options of a request that may read redacted values. */
export function revealed({
  signal,
  reveal,
}: {
  signal?: AbortSignal | undefined;
  reveal?: boolean | undefined;
}) {
  return { query: queryOf({ reveal: reveal === true ? true : undefined }), signal };
}
