import type { AlertMessageView } from '../../../../src/core/alert/route.ts';

type Send = Pick<AlertMessageView['attempts'][number], 'status' | 'error' | 'responseBody'>;

/** What the receiver of a message answered, or why it got none. */
export function sendWords({ status, error, responseBody }: Send): string {
  return status === null ? (error ?? 'no response') : `${status} ${responseBody ?? ''}`.trim();
}

/** Why the last attempt failed; null while there was none. */
export function sendReason(attempts: readonly Send[]): string | null {
  const last = attempts.at(-1);
  return last ? sendWords(last) : null;
}
