import type { PublishedDefinition } from '../../../../src/client/job.ts';

/** Owner of each definition, from its highest version that has one. */
export function ownersOf(definitions: readonly PublishedDefinition[]): Map<string, string> {
  const owners = new Map<string, string>();
  for (const { key, owner } of definitions.toSorted((a, b) => a.version - b.version)) {
    if (owner !== null) owners.set(key, owner);
  }
  return owners;
}

/** Distinct owners of these definitions. */
export function ownerWords(owners: ReadonlyMap<string, string>, keys: readonly string[]): string {
  const found = keys.flatMap((key) => owners.get(key.replace(/^\$hook:/, '')) ?? []);
  return found.length === 0 ? 'No owner' : [...new Set(found)].join(', ');
}

/** Runbook of each definition, from its highest version that has one. */
export function runbooksOf(definitions: readonly PublishedDefinition[]): Map<string, string> {
  const runbooks = new Map<string, string>();
  for (const { key, runbookUrl } of definitions.toSorted((a, b) => a.version - b.version)) {
    // Older servers do not send it.
    if (runbookUrl) runbooks.set(key, runbookUrl);
  }
  return runbooks;
}
