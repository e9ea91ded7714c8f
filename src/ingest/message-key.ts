import { createHash } from 'node:crypto';
import { IDEMPOTENCY_KEY_MAX } from '../protocol/requests/job-body.ts';

/**
 * The idempotency key of a message. The name of the source keeps the ids of two sources apart; an id
 * that no key may have is hashed.
 */
export function messageKey(source: string, id: string): string {
  const key = `${source.replaceAll('%', '%25').replaceAll(':', '%3A')}:${id}`;
  if (key.length <= IDEMPOTENCY_KEY_MAX && !/[\p{Cc}\p{Cs}]/u.test(key)) return key;
  return `sha256:${createHash('sha256').update(key).digest('hex')}`;
}
