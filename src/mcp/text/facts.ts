/** The answer of a tool, before it is written: what is known, and nothing that is empty. */
export type Facts = Record<string, unknown>;

/** Without fields that say nothing: null, undefined, empty texts and empty lists. */
export function facts(fields: Facts): Facts {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  return Array.isArray(value) && value.length === 0;
}
