import type { Field } from './schema-form.ts';

const DECISIONS = /^(ok|yes|go|approved?|accept(ed)?|allow(ed)?|confirm(ed)?)$/i;

/** The field that approves or rejects; null when the schema has none, or more than one. */
export function decisionOf(fields: readonly Field[]): Field | null {
  const found = fields.filter(({ kind, label }) => kind === 'boolean' && DECISIONS.test(label));
  return found.length === 1 ? (found[0] ?? null) : null;
}
