import { BATCH_CANCELLED } from '../../core/batch/batch.ts';
import { CHILDREN } from '../../core/dependency/children.ts';
import { judgeParents, PARENTS, type Unsuccessful } from '../../core/dependency/dependency.ts';
import { VERSION_WHEN_DUE } from '../../core/job/new-job.ts';
import type { TerminalState } from '../../core/job/job.ts';
import { endCancelledBatch } from '../batches/end-cancelled-batch.ts';
import { cancelJobs } from '../change/cancel-jobs.ts';
import { failWaiting } from '../claim/fail-waiting.ts';
import { hasOpenChild, lockForSignals, resumeJobs } from '../claim/resume.ts';
import { routeJobs } from '../claim/route-jobs.ts';
import { inTransaction, type Queryable, statement } from '../connection/db.ts';
import { withPartitions } from '../connection/partitions.ts';
import { atCtids, ctidOf, filterOnly, ONCE_PER_ROW } from '../connection/planner.ts';
import { type LevelHint, sendWakeHint } from '../connection/wake.ts';
import { permit } from '../limits/limiters.ts';

/**
 * The resolver: moves on the jobs that waited for a job which has ended. The statement that ended it has
 * written a row to `ended_watched`; one transaction takes some of these rows, notes the ends in `edge`,
 * and queues, fails or cancels the jobs whose wait is over. If it dies, the rows are there for the next.
 *
 * Two resolvers may each note the end of one parent of the same job, and neither sees what the other has
 * written. So each locks the body of the job after it has noted the end, and only a later statement looks
 * whether other parents are open: the second one to get the lock sees all.
 *
 * A job that fails here is an end for the jobs that wait for it: the next round takes that.
 */

export interface Resolved {
  levels: LevelHint[];
  /** Whether more ends may be left. */
  more: boolean;
}

const TAKE = statement<{ id: string; state: TerminalState }>(
  'take_ended',
  `with picked as materialized (
     select ${ctidOf('e')} as place, e.id, e.state from longshore.ended_watched e
     where e.shard = $1 and ${filterOnly('e.id <> all ($3::uuid[])')}
     order by e.id limit $2 for update skip locked
   ),
   gone as (
     delete from longshore.ended_watched
     where ${atCtids('select place from picked')} and ${filterOnly('shard = $1')}
   )
   select id, state from picked`,
);

/** Notes the end of these jobs; returns the jobs that wait for them. */
const NOTE_ENDS = statement<{ shard: number; id: string }>(
  'note_ends',
  `with hit as materialized (
     select e.place, e.shard, e.job_id from unnest($2::uuid[]) as u(id)
     cross join lateral (
       select ${ctidOf('e')} as place, e.shard, e.job_id from longshore.edge e
       where e.on_shard = $1 and e.on_id = u.id and ${filterOnly('e.ended is null')} ${ONCE_PER_ROW}
     ) e
   ),
   noted as (
     update longshore.edge set ended = $3::longshore.job_state
     where ${atCtids('select place from hit')} and ended is null
       and ${filterOnly('on_shard = $1 and on_id = any ($2::uuid[])')}
   )
   select distinct shard, job_id as id from hit`,
);

interface JudgedRow {
  id: string;
  claim: number;
  expiresAt: string | null;
  queue: number;
  version: number;
  tenant: string;
  /** It is a batch that was cancelled. */
  cancelled: boolean;
  open: boolean;
  unsuccessful: Unsuccessful | null;
}

/** The jobs among these that are suspended for others, locked, each with what is left of its wait. */
const JUDGE = statement<JudgedRow>(
  'judge_parents',
  `select w.id, w.claim_no as claim, to_json(w.expires_at) #>> '{}' as "expiresAt",
     w.queue, q.version, q.tenant, w.waits_for = '${BATCH_CANCELLED}' as cancelled,
     case when w.waits_for in ('${CHILDREN}', '${BATCH_CANCELLED}') then ${hasOpenChild('w.id')} else exists (
       select 1 from longshore.edge e
       where e.shard = $1 and e.job_id = w.id and e.kind = 'after' and e.ended is null
     ) end as open,
     case when w.waits_for = '${PARENTS}' then (select json_build_object('id', e.on_id, 'ended', e.ended, 'onFailure', e.on_failure)
      from longshore.edge e
      where e.shard = $1 and e.job_id = w.id and e.kind = 'after' and e.ended <> 'succeeded'
        and e.on_failure <> 'run'
      order by e.position limit 1) end as unsuccessful
   from unnest($2::uuid[]) as u(id)
   cross join lateral (
     select * from longshore.waiting w
     where w.shard = $1 and w.id = u.id and ${filterOnly(`w.waits_for in ('${PARENTS}', '${CHILDREN}', '${BATCH_CANCELLED}')`)}
     limit 1 for update
   ) w
   cross join lateral (
     select version, tenant from longshore.queue where shard = $1 and queue = w.queue limit 1
   ) q`,
);

/** The jobs that wait may be in a shard that does not answer. */
const TIMEOUT = statement<{ set_config: string }>(
  'resolve_timeout',
  `select set_config('statement_timeout', '3000', true)`,
);

export interface ResolveOptions {
  /** Ends to leave alone. */
  skipped?: readonly string[];
  /** Hears which ends are taken, also when it then fails. */
  onTaken?(ids: string[]): void;
}

/** Takes at most `limit` ends of this shard. */
export async function resolveEnded(
  db: Queryable & { shards?: number },
  shard: number,
  limit: number,
  { skipped = [], onTaken }: ResolveOptions = {},
): Promise<Resolved> {
  const { moved, more } = await withPartitions(db, async () =>
    inTransaction(db, async (tx) => {
      if (db.shards !== undefined && db.shards > 1) await tx.run(TIMEOUT);
      const ends = await tx.run(TAKE, [shard, limit, skipped]);
      onTaken?.(ends.map(({ id }) => id));
      return { moved: await moveOn(tx, shard, ends), more: ends.length === limit };
    }),
  );
  const levels: LevelHint[] = [];
  for (const one of moved) levels.push(...(await afterMove(db, one)));
  return { levels, more: more || moved.some(({ ended }) => ended) };
}

/**
 * Moves on those of these jobs whose wait is over already, because a parent ended while they began to wait.
 * Needs the transaction in which they began. Returns the levels that have work after its commit.
 */
export async function resolveNow(
  tx: Queryable,
  shard: number,
  ids: readonly string[],
): Promise<LevelHint[]> {
  if (ids.length === 0) return [];
  return await afterMove(tx, await moveWatchers(tx, shard, ids.toSorted()));
}

/** Returns all levels that have work now. */
async function afterMove(
  db: Queryable,
  { shard, levels, limiters, unversioned }: Moved,
): Promise<LevelHint[]> {
  const { levels: permitted } = await permit(db, shard, limiters);
  return [...levels, ...permitted, ...(await routeJobs(db, shard, unversioned))];
}

/** What happened in one shard. */
interface Moved {
  shard: number;
  levels: LevelHint[];
  limiters: string[];
  /** Queues of version 0 that have jobs now. */
  unversioned: number[];
  /** Some jobs failed or were cancelled, for which others may wait. */
  ended: boolean;
}

async function moveOn(
  tx: Queryable,
  shard: number,
  ends: readonly { id: string; state: TerminalState }[],
): Promise<Moved[]> {
  const watchers = new Map<number, Set<string>>();
  for (const [state, ended] of Map.groupBy(ends, (one) => one.state)) {
    const ids = [...new Set(ended.map(({ id }) => id))].sort();
    for (const { shard: of, id } of await tx.run(NOTE_ENDS, [shard, ids, state])) {
      watchers.set(of, (watchers.get(of) ?? new Set()).add(id));
    }
  }
  const moved: Moved[] = [];
  for (const [of, ids] of [...watchers].sort(([a], [b]) => a - b)) {
    moved.push(await moveWatchers(tx, of, [...ids].sort()));
  }
  return moved;
}

async function moveWatchers(tx: Queryable, shard: number, ids: readonly string[]): Promise<Moved> {
  await lockForSignals(tx, shard, ids);
  const judged = (await tx.run(JUDGE, [shard, ids])).map((row) => {
    return { ...row, verdict: judgeParents(row.open, row.unsuccessful) };
  });
  const failures = judged.flatMap(({ id, claim, expiresAt, verdict }) =>
    verdict.kind === 'fail'
      ? [{ id, claim, expiresAt, was: 'suspended' as const, error: verdict.error }]
      : [],
  );
  const failed = await failWaiting(tx, shard, failures);
  const levels = [...failed.levels];
  const cancels = judged.filter(({ verdict }) => verdict.kind === 'cancel');
  for (const [tenant, rows] of Map.groupBy(cancels, (row) => row.tenant)) {
    const scope = { tenant, states: ['suspended'], by: null } as const;
    const cancelled = await cancelJobs(
      tx,
      shard,
      rows.map(({ id }) => id),
      scope,
    );
    levels.push(...cancelled.levels);
  }
  const over = judged.filter(({ verdict }) => verdict.kind === 'run');
  const batches = over.filter(({ cancelled }) => cancelled);
  for (const batch of batches) await endCancelledBatch(tx, shard, batch);
  const runs = over.filter(({ cancelled }) => !cancelled);
  const resumed = await resumeJobs(
    tx,
    shard,
    runs.map(({ id }) => id),
  );
  levels.push(...resumed.jobs.flatMap((job) => job.levels));
  const unversioned = runs.filter(({ version }) => version === VERSION_WHEN_DUE);
  return {
    shard,
    levels,
    limiters: resumed.limiters,
    unversioned: [...new Set(unversioned.map(({ queue }) => queue))],
    ended: failures.length > 0 || cancels.length > 0 || batches.length > 0,
  };
}

/** Ends at a time, and rounds, of a process that has just ended a watched job. */
const SOON = 200;
const ROUNDS = 20;

/**
 * Moves on what waited for a job that this process has just ended. It may fail: the scheduler does the
 * same.
 */
export async function resolveSoon(db: Queryable, shard: number): Promise<void> {
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const { levels, more } = await resolveEnded(db, shard, SOON);
      if (levels.length > 0) await sendWakeHint(db, levels);
      if (!more) return;
    }
  } catch {
    // The rows are still there.
  }
}
