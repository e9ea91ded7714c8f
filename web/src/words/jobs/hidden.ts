/**
 * What a server puts in the place of a secret. Who sends it back would put it in the place of the
 * secret, so whatever is sent is looked through for it.
 */
const HIDDEN = '[redacted]';

/** What to do about it; null when nothing is hidden. */
export function hiddenIn(params: unknown): string | null {
  if (!(JSON.stringify(params) ?? '').includes(HIDDEN)) return null;
  return 'Some values are hidden here. Write the real ones in their place.';
}
