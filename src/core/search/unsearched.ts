/** Params that the words of a search are not compared with. */
export const UNSEARCHED = ['encrypted', 'large'] as const;

export type Unsearched = (typeof UNSEARCHED)[number];

/** What to say beside "no matches"; null if all params are searched. */
export function unsearchedWords(kinds: readonly Unsearched[]): string | null {
  if (kinds.length === 0) return null;
  const words = kinds.join(' and ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)} params are not searched: jobs that have the text only there are not found.`;
}
