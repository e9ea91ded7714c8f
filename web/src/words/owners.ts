import type { PublishedDefinition } from '../../../src/client/job.ts';

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
