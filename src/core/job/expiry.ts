import { failureOf } from '../failure/failure.ts';
import type { JobError } from './job.ts';

/**
 * What becomes of a job that has not begun by its expiry, whatever it waits for: it ends, since it
 * would be of no use any more. A job that runs is left alone. Its attempts are as they were.
 */
export function expired(expiresAt: string): JobError {
  const time = new Date(expiresAt).toISOString();
  return failureOf('EXPIRED', `it had not begun by ${time}, when it expired`);
}
