/** What matters here of a published definition. */
export interface OwnedDefinition {
  key: string;
  version: number;
  owner: string | null;
  /** Older servers do not send it. */
  runbookUrl?: string | null;
}

/** Owner of each definition, from its highest version that has one. */
export function ownersOf(definitions: readonly OwnedDefinition[]): Map<string, string> {
  const owners = new Map<string, string>();
  for (const { key, owner } of definitions.toSorted((a, b) => a.version - b.version)) {
    if (owner !== null) owners.set(key, owner);
  }
  return owners;
}

/** The owner of a definition or of its hooks. */
export function ownerOf(owners: ReadonlyMap<string, string>, key: string): string | null {
  return owners.get(key.replace(/^\$hook:/, '')) ?? null;
}

/** Distinct owners of these definitions. */
export function ownerWords(owners: ReadonlyMap<string, string>, keys: readonly string[]): string {
  const found = keys.flatMap((key) => ownerOf(owners, key) ?? []);
  return found.length === 0 ? 'No owner' : [...new Set(found)].join(', ');
}

/** Runbook of each definition, from its highest version that has one. */
export function runbooksOf(definitions: readonly OwnedDefinition[]): Map<string, string> {
  const runbooks = new Map<string, string>();
  for (const { key, runbookUrl } of definitions.toSorted((a, b) => a.version - b.version)) {
    if (runbookUrl) runbooks.set(key, runbookUrl);
  }
  return runbooks;
}

/** The newest version of each key, by name. */
export function newestVersions<T extends { key: string; version: number }>(all: readonly T[]): T[] {
  const newest = new Map<string, T>();
  for (const one of all) {
    if ((newest.get(one.key)?.version ?? 0) < one.version) newest.set(one.key, one);
  }
  return [...newest.values()].sort((a, b) => a.key.localeCompare(b.key));
}
