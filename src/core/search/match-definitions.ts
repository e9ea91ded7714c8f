import type { Search } from './search.ts';

export interface KnownDefinition {
  key: string;
  owner: string | null;
}

export interface MatchedDefinitions {
  matches: (definition: KnownDefinition) => boolean;
  /** The words that are not the key of a definition. */
  words: string[];
}

/**
 * Which definitions a search is about. A value that is exactly a known key or owner means that one;
 * otherwise it means all that contain it. A bare word that is exactly a known key is a filter, too.
 */
export function matchDefinitions(
  search: Pick<Search, 'definitions' | 'owners' | 'words'>,
  known: readonly KnownDefinition[],
): MatchedDefinitions {
  const keys = new Set(known.map(({ key }) => key));
  const owners = new Set(known.map(({ owner }) => owner));
  const isKey = ({ text, quoted }: Search['words'][number]) => !quoted && keys.has(text);
  const named = search.words.filter(isKey).map(({ text }) => text);
  const ofKey = search.definitions.map((value) => matcher(value, keys));
  const ofOwner = search.owners.map((value) => matcher(value, owners));
  return {
    matches: ({ key, owner }) =>
      named.every((name) => name === key) &&
      (ofKey.length === 0 || ofKey.some((fits) => fits(key))) &&
      (ofOwner.length === 0 || ofOwner.some((fits) => owner !== null && fits(owner))),
    words: search.words.filter((word) => !isKey(word)).map(({ text }) => text),
  };
}

/** Whether the definitions must be known to run the search. */
export function needsDefinitions({ definitions, owners, words }: Search): boolean {
  return definitions.length > 0 || owners.length > 0 || words.some(({ quoted }) => !quoted);
}

function matcher(wanted: string, known: ReadonlySet<string | null>): (value: string) => boolean {
  if (known.has(wanted)) return (value) => value === wanted;
  const typed = wanted.toLowerCase();
  if (!typed.includes('*')) return (value) => value.toLowerCase().includes(typed);
  const parts = typed.split('*');
  return (value) => fitsParts(value.toLowerCase(), parts);
}

/** The value begins with the first part, ends with the last, and has the others between in order. */
function fitsParts(value: string, parts: readonly string[]): boolean {
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  if (!value.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = value.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return value.length - last.length >= at && value.endsWith(last);
}
