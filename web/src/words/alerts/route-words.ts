import type { AlertRouteView } from '../../../../src/core/alert/route.ts';

/** Where a route sends to. */
export function destinationWords({ to, urlHost }: Pick<AlertRouteView, 'to' | 'urlHost'>): string {
  return urlHost ?? to.join(', ');
}

/** Which alerts it sends. */
export function filterWords({
  rules,
  owners,
  definitionKeys,
}: Pick<AlertRouteView, 'rules' | 'owners' | 'definitionKeys'>): string {
  const parts = [
    rules && `rules ${rules.join(', ')}`,
    owners && `owners ${owners.join(', ')}`,
    definitionKeys && `definitions ${definitionKeys.join(', ')}`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? 'all alerts' : parts.join('; ');
}

/** Words of a text field, separated by commas or spaces; null when there are none. */
export function wordsIn(text: string): string[] | null {
  const words = text.split(/[\s,]+/).filter(Boolean);
  return words.length === 0 ? null : words;
}

/** Owners may have spaces in their names. */
export function namesIn(text: string): string[] | null {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  return names.length === 0 ? null : names;
}
