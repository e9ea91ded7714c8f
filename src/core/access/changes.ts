/**
 * What differs between two values of the same kind, field by field, as the audit log keeps it. Params
 * are only said to have changed: what is in them may be secret, and the log keeps everything for ever.
 */
export function changesOf(
  before: object,
  after: object,
): { before: Record<string, unknown>; after: Record<string, unknown> } {
  const changes = { before: {} as Record<string, unknown>, after: {} as Record<string, unknown> };
  const fields = after as Record<string, unknown>;
  for (const [name, was] of Object.entries(before)) {
    const is = fields[name];
    if (JSON.stringify(was) === JSON.stringify(is)) continue;
    if (name === 'paramsJson') {
      changes.after['params'] = 'changed';
    } else {
      changes.before[name] = was;
      changes.after[name] = is;
    }
  }
  return changes;
}
