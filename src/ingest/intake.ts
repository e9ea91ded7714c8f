import type { Refused } from '../brokers/source.ts';
import type { JobRequest } from '../core/job/new-job.ts';
import type { Enqueuer } from '../enqueue/enqueuer.ts';
import { QuotaExceeded } from '../enqueue/quotas.ts';
import { start } from '../enqueue/start-jobs.ts';
import { Refusal } from '../protocol/refusal.ts';
import { DatabaseUnavailable } from '../store/connection/db.ts';

/** What became of the job of a message. */
export type Fate = 'stored' | 'duplicate' | Refused;

/** Why messages wait. */
export type WaitReason = 'database' | 'quota' | 'error';

/** Waits before the next try. Rejects to give up, which leaves the messages to the broker. */
export type Wait = (reason: WaitReason, error: unknown) => Promise<void>;

/** An error that is neither of the database nor a refusal is of the message, if it comes this often. */
const TRIES_MAX = 5;

interface Entry {
  job: JobRequest;
  index: number;
}

/**
 * Stores the jobs of a batch in one transaction. One refused job would reject all, so it is taken
 * out and the rest is stored. What may pass, such as a missing database or a full quota, is waited
 * for; a batch that is larger than the rest of the quota is halved.
 */
export async function storeJobs(
  enqueuer: Enqueuer,
  jobs: readonly JobRequest[],
  wait: Wait,
): Promise<Fate[]> {
  const fates: Fate[] = Array.from({ length: jobs.length });
  const entries = jobs.map((job, index) => ({ job, index }));
  await storeEntries(enqueuer, entries, fates, wait);
  return fates;
}

async function storeEntries(
  enqueuer: Enqueuer,
  entries: readonly Entry[],
  fates: Fate[],
  wait: Wait,
): Promise<void> {
  let left = entries;
  for (let tries = 1; left.length > 0; tries += 1) {
    try {
      const stored = await start(
        enqueuer,
        left.map(({ job }) => job),
        (index) => `/${index}`,
      );
      for (const [at, { created }] of stored.entries()) {
        const entry = left[at];
        if (entry) fates[entry.index] = created ? 'stored' : 'duplicate';
      }
      return;
    } catch (error) {
      const refused = refusedIn(error, left.length);
      if (refused.size > 0) {
        for (const [at, why] of refused) {
          const entry = left[at];
          if (entry) fates[entry.index] = why;
        }
        left = left.filter((_, at) => !refused.has(at));
        continue;
      }
      const isDown = error instanceof DatabaseUnavailable;
      const [only] = left;
      if (!isDown && left.length > 1) {
        const half = Math.ceil(left.length / 2);
        await storeEntries(enqueuer, left.slice(0, half), fates, wait);
        await storeEntries(enqueuer, left.slice(half), fates, wait);
        return;
      }
      if (isDown) await wait('database', error);
      else if (error instanceof QuotaExceeded) await wait('quota', error);
      else if (only && tries >= TRIES_MAX) {
        fates[only.index] = { code: 'INTERNAL', detail: 'the job cannot be stored; see the log' };
        return;
      } else await wait('error', error);
    }
  }
}

/** Which jobs of a batch a refusal names, by their index. */
function refusedIn(error: unknown, count: number): Map<number, Refused> {
  const found = new Map<number, Refused>();
  if (!(error instanceof Refusal)) return found;
  for (const { pointer, detail } of error.errors ?? []) {
    const [, digits = '', rest = ''] = /^\/(\d+)(.*)$/s.exec(pointer) ?? [];
    if (digits === '' || found.has(Number(digits))) continue;
    found.set(Number(digits), { code: error.code, detail: `${rest}: ${detail}` });
  }
  // A refusal that names no job of several is found by halving.
  if (found.size === 0 && count === 1) found.set(0, { code: error.code, detail: error.message });
  return found;
}
