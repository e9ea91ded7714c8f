import type { Db, Queryable } from '../store/connection/db.ts';
import { DatabaseUnavailable } from '../store/connection/db.ts';
import {
  advanceBulk,
  type BulkProgress,
  type DueBulk,
  lockDueBulk,
} from '../store/change/bulks.ts';
import { cancelJobs } from '../store/change/cancel-jobs.ts';
import { deleteJobs } from '../store/change/delete-jobs.ts';
import { findJobs } from '../store/read/find-jobs.ts';
import { withPartitions } from '../store/connection/partitions.ts';
import { retryJobs } from '../store/change/retry-jobs.ts';
import { retakeUniqueKeys } from '../store/enqueue/unique-jobs.ts';
import type { FoundIds } from '../store/read/walk-jobs.ts';
import type { LevelHint } from '../store/connection/wake.ts';
import type { JobState, TerminalState } from '../core/job/job.ts';

/**
 * One batch of a bulk action is one transaction: it locks the row of the action, finds and changes
 * the next jobs, and writes the progress. So a kill leaves the batch and its progress both done or
 * both undone, and the lock keeps others from the same batch.
 *
 * The walk goes by id and never back, so a job that fails again right after its retry is not
 * visited twice. A batch that fails is repeated job by job, so that one bad row does not stop the
 * others.
 */
const BATCH_SIZE = 500;

/** What to notify after the commit. */
export interface BatchResult {
  /** The number of changed jobs. */
  changed: number;
  levels: LevelHint[];
  due: { shard: number; inMs: number }[];
  workers: string[];
}

/** Null when no bulk action is due. */
export async function runBatch(db: Db): Promise<BatchResult | null> {
  let id: string | null = null;
  const seen = (bulk: DueBulk) => {
    ({ id } = bulk);
  };
  try {
    return await batch(db, null, BATCH_SIZE, change, seen);
  } catch (error) {
    if (error instanceof DatabaseUnavailable || id === null) throw error;
    return await oneByOne(db, id);
  }
}

async function oneByOne(db: Db, id: string): Promise<BatchResult> {
  const result = nothing();
  for (let n = 0; n < BATCH_SIZE; n += 1) {
    const one = await batch(db, id, 1, change).catch(async (error: unknown) => {
      if (error instanceof DatabaseUnavailable) throw error;
      const why = error instanceof Error ? error.message : String(error);
      return await batch(db, id, 1, async (_tx, _bulk, ids) => giveUp(ids, why));
    });
    if (one === null) break;
    result.changed += one.changed;
    result.levels.push(...one.levels);
    result.due.push(...one.due);
    result.workers.push(...one.workers);
  }
  return result;
}

interface Effect extends BatchResult {
  failed: number;
  note: string | null;
}

type Act = (tx: Queryable, bulk: DueBulk, ids: readonly string[]) => Promise<Effect>;

async function batch(
  db: Db,
  id: string | null,
  sizeMax: number,
  act: Act,
  seen: (bulk: DueBulk) => void = () => undefined,
): Promise<BatchResult | null> {
  return await withPartitions(db, async () =>
    db.transaction(async (tx) => {
      const bulk = await lockDueBulk(tx, id);
      if (!bulk) return null;
      seen(bulk);
      const { tenant, criteria, asOf, shard, afterId, how } = bulk;
      const limit = Math.min(sizeMax, Math.max(1, Math.floor(how.ratePerSecond ?? BATCH_SIZE)));
      const walk = { tenant, criteria, newestFirst: false, afterId, limit, asOf };
      const found = await findJobs(tx, shard, walk);
      const effect = await act(tx, bulk, found.ids);
      await advanceBulk(tx, bulk.id, progress(bulk, found, effect, db.shards));
      return effect;
    }),
  );
}

/** The start of the next batch: further on in this shard, in the next shard, or none. */
function progress(
  { shard, how }: DueBulk,
  { ids, reachedId }: FoundIds,
  { changed, failed, note }: Effect,
  shards: number,
): BulkProgress {
  const over = reachedId === null;
  return {
    shard: over ? shard + 1 : shard,
    afterId: reachedId,
    changed,
    skipped: ids.length - changed - failed,
    failed,
    note,
    finished: over && shard + 1 >= shards,
    pauseMs: how.ratePerSecond === null ? 0 : (changed * 1_000) / how.ratePerSecond,
  };
}

async function change(
  tx: Queryable,
  { action, tenant, criteria, how, asOf, shard, by }: DueBulk,
  ids: readonly string[],
): Promise<Effect> {
  const states: readonly JobState[] = criteria.statuses;
  const ended = { tenant, states: states as readonly TerminalState[], endedBefore: asOf };
  switch (action) {
    case 'cancel': {
      const {
        ids: cancelled,
        levels,
        workers,
      } = await cancelJobs(tx, shard, ids, {
        tenant,
        states,
        by,
      });
      return { ...nothing(), changed: cancelled.length, levels, workers };
    }
    case 'retry': {
      const taken = await retakeUniqueKeys(tx, shard, ids, tenant);
      const free = ids.filter((id) => !taken.has(id));
      const retried = await retryJobs(tx, shard, free, how, ended);
      const levels = retried.filter(({ state }) => state === 'queued');
      const later = retried.filter(({ state }) => state === 'scheduled');
      const due = later.map((one) => ({ shard, inMs: one.dueInMs ?? 0 }));
      return { ...nothing(), changed: retried.length, levels, due };
    }
    case 'delete': {
      const gone = await deleteJobs(tx, shard, ids, ended);
      return { ...nothing(), changed: gone.length };
    }
  }
}

function giveUp(ids: readonly string[], note: string): Effect {
  return { ...nothing(), failed: ids.length, note };
}

function nothing(): Effect {
  return { changed: 0, levels: [], due: [], workers: [], failed: 0, note: null };
}
