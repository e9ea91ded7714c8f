/**
 * The server's placeholder for a secret. Sending it back would replace the secret, so params are
 * checked for it.
 */
const HIDDEN = '[redacted]';

/** An error message, or null if nothing is redacted. */
export function hiddenIn(params: unknown): string | null {
  if (!(JSON.stringify(params) ?? '').includes(HIDDEN)) return null;
  return 'Some values are redacted. Replace them with the real values.';
}
