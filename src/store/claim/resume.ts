import { CHILDREN } from '../../core/dependency/children.ts';
import { PARENTS } from '../../core/dependency/dependency.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { filterOnly } from '../connection/planner.ts';
import { COUNT_BLOCKED, blocks } from '../limits/limiters.ts';
import { moves, counters } from '../counters/counter-moves.ts';
import type { LevelHint } from '../connection/wake.ts';

/** All parents have succeeded, or need not: no caller can start a job before. */
const PARENTS_OVER = `not exists (
          select 1 from longshore.edge e
          where e.shard = $1 and e.job_id = w.id and e.kind = 'after'
            and (e.ended is null or (e.ended <> 'succeeded' and e.on_failure <> 'run')))`;

/** A job has a child that has not ended. $1 is the shard. */
export const hasOpenChild = (id: string) => `exists (
          select 1 from longshore.edge e
          where e.shard = $1 and e.job_id = ${id} and e.kind = 'child' and e.ended is null)`;

/**
 * Queues suspended jobs whose signal has arrived, or whose parents or children have ended
 * (`store/edges`). Two transactions do it: the one that stores a signal or the end of a job, and the
 * one that suspends a job. Each must see what the other wrote, or the signal would
 * be lost until the timeout. So both lock the body of the job before they look, in a later statement,
 * whether the other has written.
 */

const LOCK = statement<{ id: string }>(
  'lock_for_signals',
  `select j.id from unnest($2::uuid[]) as u(id)
   cross join lateral (
     select id from longshore.job where shard = $1 and id = u.id limit 1 for no key update
   ) j`,
);

/** The ids are in lock order. */
export async function lockForSignals(
  tx: Queryable,
  shard: number,
  ids: readonly string[],
): Promise<void> {
  await tx.run(LOCK, [shard, ids]);
}

interface ResumedRow {
  id: string;
  queue: number;
  rank: number;
  blocked: boolean;
  limiters: string[];
}

const RESUME = statement<ResumedRow>(
  'resume_jobs',
  `with clock as materialized (select clock_timestamp() as at),
  found as materialized (
    select w.id, ${blocks('w')} as blocks,
      (extract(epoch from c.at) * 1000000)::bigint + u.n as place
    from clock c, unnest($2::uuid[]) with ordinality as u(id, n)
    cross join lateral (
      select * from longshore.waiting w
      where w.shard = $1 and w.id = u.id and ${filterOnly("w.state = 'suspended'")}
        and case when w.waits_for = '${PARENTS}' then ${PARENTS_OVER}
          when w.waits_for = '${CHILDREN}' then not ${hasOpenChild('w.id')} else exists (
          select 1 from longshore.step s
          where s.shard = $1 and s.job_id = w.id and s.name = 'signal:' || w.waits_for) end
      limit 1 for update
    ) w
  ),
  entered as (
    update longshore.waiting w
    set state = 'queued', queued_at = c.at, run_at = null, waits_for = null,
      seq = case when not f.blocks then f.place end, blocked = case when f.blocks then f.place end
    from found f, clock c
    where w.shard = $1 and w.id = any (array(select id from found)) and w.id = f.id
    returning w.id, w.queue, w.rank, w.key_limiter, w.blocked
  ),
  ${COUNT_BLOCKED}, ${counters(moves("'suspended'", "'queued'", 'entered'))}
  select id, queue, rank, blocked is not null as blocked,
    array(select limiter::text from counted) as limiters
  from entered`,
);

export interface Resumed {
  /** The jobs that are queued now, each with its level if it can be claimed. */
  jobs: { id: string; levels: LevelHint[] }[];
  /** Limiters of keys that jobs wait for, for `permit`. */
  limiters: string[];
}

export const NONE_RESUMED: Resumed = { jobs: [], limiters: [] };

export async function resumeJobs(
  tx: Queryable,
  shard: number,
  ids: readonly string[],
): Promise<Resumed> {
  const rows = await tx.run(RESUME, [shard, ids]);
  return {
    jobs: rows.map(({ id, queue, rank, blocked }) => {
      return { id, levels: blocked ? [] : [{ shard, queue, rank }] };
    }),
    limiters: rows[0]?.limiters ?? [],
  };
}
