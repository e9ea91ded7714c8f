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
import { atCtids, ctidOf, filterOnly } from '../connection/planner.ts';
import { type LevelHint, sendWakeHint } from '../connection/wake.ts';
import { permit } from '../limits/limiters.ts';

/**
 * The resolver: moves on the jobs that waited for a job which has ended. The statement that ended it has
 * written a row to `ended_watched`; one transaction takes some of these rows, notes the ends in `edge`,
 * and queues, fails or cancels the jobs whose wait is over. If it dies, the rows are there for the next.
 *
 * Any number of jobs may wait for one, so a round notes a bounded number of edges. The row of an end that
 * has more stays, unchanged, for the next round: a retry by hand that waits for the round must find it
 * (`revive-followers.ts`).
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
  /** A retried job has followers to revive (`revive-later.ts`). */
  revival: boolean;
}

/** Edges that a round notes. */
const EDGES_AT_ONCE = 1_000;
/** Of one end, if there are many: a parent of very many must not hold back the others. */
const EDGES_OF_ONE = 100;

interface Taken {
  id: string;
  state: TerminalState;
  place: string;
}

/** The rows stay until all of their edges are noted. A row without a state says that there are revivals. */
const TAKE = statement<{ id: string; state: TerminalState | null; place: string | null }>(
  'take_ended',
  `with picked as materialized (
     select ${ctidOf('e')} as place, e.id, e.state from longshore.ended_watched e
     where e.shard = $1 and e.state is not null and ${filterOnly('e.id <> all ($3::uuid[])')}
     order by e.id limit $2 for update skip locked
   ),
   revival as materialized (
     select e.id from longshore.ended_watched e
     where e.shard = $1 and e.state is null and ${filterOnly('e.id <> all ($3::uuid[])')} limit 1
   )
   select id, state, place::text from picked
   union all select id, null, null from revival`,
);

/** By their places, which do not change while they are locked. A later row of the same job stays. */
const FORGET = statement<{ id: string }>(
  'forget_ended',
  `delete from longshore.ended_watched
   where ctid = any ($2::tid[]) and ${filterOnly('shard = $1')}
   returning id`,
);

interface NotedEdge {
  on: string;
  shard: number;
  id: string;
}

/** Notes the end of these jobs in at most $5 edges, $4 of each; returns the jobs that wait for them. */
const NOTE_ENDS = statement<NotedEdge>(
  'note_ends',
  `with hit as materialized (
     select u.id as on_id, e.place, e.shard, e.job_id from unnest($2::uuid[]) as u(id)
     cross join lateral (
       select ${ctidOf('e')} as place, e.shard, e.job_id from longshore.edge e
       where e.on_shard = $1 and e.on_id = u.id and e.ended is null limit $4
     ) e
     limit $5
   ),
   noted as (
     update longshore.edge set ended = $3::longshore.job_state
     where ${atCtids('select place from hit')} and ended is null
       and ${filterOnly('on_shard = $1 and on_id = any ($2::uuid[])')}
   )
   select on_id as "on", shard, job_id as id from hit`,
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
  const { moved, more, revival } = await withPartitions(db, async () =>
    inTransaction(db, async (tx) => {
      await limitStatements(db, tx);
      const rows = await tx.run(TAKE, [shard, limit, skipped]);
      const ends = rows.filter((row): row is Taken => row.state !== null);
      onTaken?.(ends.map(({ id }) => id));
      const { moved: jobs, left } = await moveOn(tx, shard, ends);
      return {
        moved: jobs,
        more: ends.length === limit || left,
        revival: rows.length > ends.length,
      };
    }),
  );
  const levels: LevelHint[] = [];
  for (const one of moved) levels.push(...(await afterMove(db, one)));
  return { levels, more: more || moved.some(({ ended }) => ended), revival };
}

/** In a transaction that may wait for another shard. */
export async function limitStatements(db: { shards?: number }, tx: Queryable): Promise<void> {
  if (db.shards !== undefined && db.shards > 1) await tx.run(TIMEOUT);
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
  ends: readonly Taken[],
): Promise<{ moved: Moved[]; left: boolean }> {
  const watchers = new Map<number, Set<string>>();
  const left = new Set<string>();
  const ofOne = Math.max(EDGES_OF_ONE, Math.floor(EDGES_AT_ONCE / Math.max(1, ends.length)));
  let free = EDGES_AT_ONCE;
  for (const [state, ended] of Map.groupBy(ends, (one) => one.state)) {
    const ids = [...new Set(ended.map(({ id }) => id))].sort();
    const edges = free > 0 ? await tx.run(NOTE_ENDS, [shard, ids, state, ofOne, free]) : [];
    for (const { shard: of, id } of edges) {
      watchers.set(of, (watchers.get(of) ?? new Set()).add(id));
    }
    for (const id of unfinished(ids, edges, ofOne, free)) left.add(id);
    free -= edges.length;
  }
  const moved: Moved[] = [];
  for (const [of, ids] of [...watchers].sort(([a], [b]) => a - b)) {
    moved.push(await moveWatchers(tx, of, [...ids].sort()));
  }
  const finished = ends.flatMap(({ id, place }) => (left.has(id) ? [] : [place]));
  if (finished.length > 0) await tx.run(FORGET, [shard, finished]);
  return { moved, left: left.size > 0 };
}

/** The ends that may have more edges; the edges are in the order of the ends. */
function unfinished(
  ids: readonly string[],
  edges: readonly NotedEdge[],
  ofOne: number,
  ofAll: number,
): string[] {
  const counts = new Map<string, number>();
  for (const { on } of edges) counts.set(on, (counts.get(on) ?? 0) + 1);
  const last = edges.length < ofAll ? ids.length : ids.indexOf(edges.at(-1)?.on ?? '');
  return ids.filter((id, index) => index >= last || counts.get(id) === ofOne);
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
 * same. Returns whether more may be left.
 */
export async function resolveSoon(db: Queryable, shard: number, rounds = ROUNDS): Promise<boolean> {
  try {
    for (let round = 0; round < rounds; round += 1) {
      const { levels, more } = await resolveEnded(db, shard, SOON);
      if (levels.length > 0) await sendWakeHint(db, levels);
      if (!more) return false;
    }
    return true;
  } catch {
    // The rows are still there, for the scheduler.
    return false;
  }
}
