import type { PublishedDefinition } from '../../../../src/client/job.ts';

/** Who is to be asked about each definition, by the highest version that names somebody. */
export function ownersOf(definitions: readonly PublishedDefinition[]): Map<string, string> {
  const owners = new Map<string, string>();
  for (const { key, owner } of definitions.toSorted((a, b) => a.version - b.version)) {
    if (owner !== null) owners.set(key, owner);
  }
  return owners;
}

/** All who own one of these, each once. */
export function ownerWords(owners: ReadonlyMap<string, string>, keys: readonly string[]): string {
  const found = keys.flatMap((key) => owners.get(key.replace(/^\$hook:/, '')) ?? []);
  return found.length === 0 ? 'nobody is named' : [...new Set(found)].join(', ');
}

/** Where it is written what to do when a definition fails, by the highest version that says so. */
export function runbooksOf(definitions: readonly PublishedDefinition[]): Map<string, string> {
  const runbooks = new Map<string, string>();
  for (const { key, runbookUrl } of definitions.toSorted((a, b) => a.version - b.version)) {
    // A server of an earlier release says nothing about it.
    if (runbookUrl) runbooks.set(key, runbookUrl);
  }
  return runbooks;
}
