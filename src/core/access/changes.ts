/**
 * The difference between two values of the same kind, field by field, for the audit log. Of params
 * it only records that they changed: they may hold secrets, and the log is kept for ever.
 */
export function changesOf(
  before: object,
  after: object,
): { before: Record<string, unknown>; after: Record<string, unknown> } {
  const changes = { before: {} as Record<string, unknown>, after: {} as Record<string, unknown> };
  const [old, made] = [before, after] as [Record<string, unknown>, Record<string, unknown>];
  for (const name of new Set([...Object.keys(old), ...Object.keys(made)])) {
    const [was, is] = [old[name], made[name]];
    if (JSON.stringify(was) === JSON.stringify(is)) continue;
    if (name === 'paramsJson') {
      changes.after['params'] = 'changed';
    } else {
      if (was !== undefined) changes.before[name] = was;
      if (is !== undefined) changes.after[name] = is;
    }
  }
  return changes;
}
