import { CannotOpen } from '../../core/access/sealed.ts';
import { ArtifactError } from '../../core/artifact/artifact-error.ts';
import { failureOf } from '../../core/failure/failure.ts';
import { NO_USAGE } from '../../core/job/job.ts';
import { LargeValueLost } from '../../core/large/large-value.ts';
import type { Ended } from './execution.ts';

/** How long a job waits whose large values the storage does not give at the moment. */
const STORAGE_PAUSE_MS = 10_000;

/**
 * The outcome of an attempt whose input cannot be read here: it cannot be decrypted, or the storage lost a
 * part of it, or does not answer. Null: another error.
 */
export function unreadable(error: unknown): Ended | null {
  const failed = (code: 'CANNOT_DECRYPT' | 'LARGE_VALUE_LOST', message: string): Ended => {
    const outcome = {
      kind: 'failure',
      error: failureOf(code, message),
      retryAfterMs: null,
    } as const;
    return { outcome, usage: NO_USAGE };
  };
  if (error instanceof CannotOpen) return failed('CANNOT_DECRYPT', error.message);
  if (error instanceof LargeValueLost) return failed('LARGE_VALUE_LOST', error.message);
  if (!isStorageDown(error)) return null;
  return { outcome: { kind: 'snoozed', delayMs: STORAGE_PAUSE_MS }, usage: NO_USAGE };
}

/** The storage of large values may answer later. */
export function isStorageDown(error: unknown): boolean {
  return error instanceof ArtifactError && error.isTemporary;
}
