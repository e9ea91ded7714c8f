import { canonicalJson } from '../values/canonical-json.ts';
import type { DefinitionInfo } from '../definition/definition.ts';

/** What a deployment means for one definition, compared with what new jobs get now. */
export interface DefinitionChange {
  key: string;
  /** `removed`: the deployment does not have it; new jobs still get the old one. */
  change: 'added' | 'changed' | 'unchanged' | 'removed';
  /** The fields with other values, such as `maxAttempts` or `paramsSchema`. */
  fields: string[];
}

/** Compares the rules of definitions. Their code may differ in any case. */
export function difference(
  before: readonly DefinitionInfo[],
  after: readonly DefinitionInfo[],
): DefinitionChange[] {
  const earlier = new Map(before.map((info) => [info.key, info]));
  const kept = after.map((info): DefinitionChange => {
    const old = earlier.get(info.key);
    if (!old) return { key: info.key, change: 'added', fields: [] };
    const fields = changedFields(old, info);
    return { key: info.key, change: fields.length > 0 ? 'changed' : 'unchanged', fields };
  });
  const keys = new Set(after.map(({ key }) => key));
  const removed = before
    .filter(({ key }) => !keys.has(key))
    .map(({ key }): DefinitionChange => ({ key, change: 'removed', fields: [] }));
  return [...kept, ...removed].toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

/** Fields by the names that users write. */
const WRITTEN: Readonly<Record<string, string>> = {
  paramsSchema: 'params',
  paramsShape: 'upgrade',
  schedules: 'schedule',
  timeoutMs: 'timeoutSeconds',
};

function changedFields(before: DefinitionInfo, after: DefinitionInfo): string[] {
  const fields = new Set([...Object.keys(before), ...Object.keys(after)]);
  const value = (info: DefinitionInfo, field: string) =>
    canonicalJson((info as unknown as Record<string, unknown>)[field] ?? null);
  return [...fields]
    .filter((field) => field !== 'version' && value(before, field) !== value(after, field))
    .map((field) => WRITTEN[field] ?? field)
    .toSorted();
}
