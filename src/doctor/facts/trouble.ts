/** The innermost cause of an error. */
export function troubleOf(error: unknown): { code: string | null; reason: string } {
  let at = error;
  for (let depth = 0; at instanceof Error && at.cause instanceof Error && depth < 5; depth += 1) {
    at = at.cause;
  }
  if (!(at instanceof Error)) return { code: null, reason: String(at) };
  const code = 'code' in at && typeof at.code === 'string' ? at.code : null;
  // A host with several addresses fails with an AggregateError, which has a code but no message.
  return { code, reason: at.message || (code ?? at.name) };
}
