import { failureOf } from '../failure/failure.ts';
import type { JobError } from './job.ts';

/**
 * The error of a job that has not started by its expiry. Running jobs are not affected, and no
 * attempt is charged.
 */
export function expired(expiresAt: string): JobError {
  const time = new Date(expiresAt).toISOString();
  return failureOf('EXPIRED', `it had not begun by ${time}, when it expired`);
}
