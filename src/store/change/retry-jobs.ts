import { BATCH_KEY } from '../../core/batch/batch.ts';
import { PARENTS } from '../../core/dependency/dependency.ts';
import type { RetryPolicy, TerminalState, WaitingState } from '../../core/job/job.ts';
import { DEFAULT_RETRY, retryDelayMs } from '../../core/failure/backoff.ts';
import type { RetryRequest } from '../../core/failure/retry.ts';
import { changeableQueue } from '../limits/changeable-queue.ts';
import { piece } from '../connection/backend.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { distributedFunction } from '../connection/distributed-function.ts';
import { atCtids, filterOnly, ONCE_PER_ROW, ctidOf } from '../connection/planner.ts';
import { resolveNow } from '../edges/resolve-ended.ts';
import { unsuccessfulParent } from '../edges/unsuccessful-parent.ts';
import { type RevivalBudget, revivalBudget, reviveFollowers } from '../edges/revive-followers.ts';
import { permit, COUNT_BLOCKED, keyLimiter, blocks } from '../limits/limiters.ts';
import { moves, counters } from '../counters/counter-moves.ts';

const ofBody = (what: string) =>
  `(select ${what} from longshore.job j where j.shard = $1 and j.id = b.id limit 1)`;

/** The limiter follows from the concurrency key, which is in the body. */
const KEY_LIMITER = keyLimiter('b.queue', ofBody('j.concurrency_key'));
const FAILS_UNSERVED = ofBody("(j.policy ->> 'failsUnserved')::boolean");

/**
 * One more attempt if all are used up. Null stays null: then the definition decides at the first
 * claim.
 */
const ATTEMPTS = `case when $4::text = 'reset' or max_attempts is null then max_attempts
        else greatest(max_attempts, attempts + 1) end`;

/**
 * The params before the edit. On Citus the parts of a statement see what the earlier ones wrote, so
 * they are read first.
 */
const paramsBefore = (id: string) => piece(`longshore.params_of($1, ${id})`, 'params_before');
const READ_BEFORE = piece('', `, ${ofBody('j.params').replace('b.id', 'u.id')} as params_before`);

/** What is kept of the retry. Params and version are those before, if they changed. */
const RETRIED = `case
        when params is null and version_before is null then ${retried()}
        when version_before is null then ${retried('params')}
        when params is null then ${retried('version')}
        else ${retried('version', 'params')} end`;

function retried(...changed: ('version' | 'params')[]): string {
  const before = {
    version: "'versionBefore', version_before",
    params: `'paramsBefore', ${paramsBefore('id')}`,
  };
  const fields = ["'at', at", "'mode', $4::text", "'runAt', wanted_at"];
  return `json_build_object(${[...fields, ...changed.map((each) => before[each])].join(', ')})`;
}

/** A batch keeps its jobs: it cannot make new ones. */
const NOT_BATCH = `(select q.key from longshore.queue q
          where q.shard = $1 and q.queue = b.queue) <> '${BATCH_KEY}'`;

/** Of steps and edges: what a retry forgets. */
const SAVED = "($4::text = 'reset' or name like 'wait:%' or name like 'timeout:%')";
const OWN_CHILD = "kind = 'child' and $4::text = 'reset'";

/** It has parents that have not ended. */
const SUSPENDS = `exists (
        select 1 from longshore.edge e
        where e.shard = $1 and e.job_id = b.id and e.kind = 'after' and e.ended is null)`;

const NEXT_STATE =
  "case when suspends then 'suspended' when waits then 'scheduled' else 'queued' end";

/**
 * A retry by hand moves the narrow row from `done` back to `waiting`.
 *
 * A job must not come back twice. So the row is first found and locked by id and state, as in
 * `store/claim/settle.ts`, and everything else is derived from it: of two retries, or a retry and
 * a delete, one finds no row.
 *
 * The outcome must not be lost. The last attempt keeps it. A job that was cancelled or failed
 * while it waited has no attempt and gets a row with the claim number that its events used
 * (`store/read/read-events.ts`). So the claim number is always raised here, and no later event has
 * the id of an earlier one.
 *
 * Retention that copies `done` meanwhile learns of it from `revived`.
 *
 * Rows are found by key and changed by ctid (`store/connection/planner.ts` has the reason).
 *
 * `entered` is the job in its level, as in `store/enqueue/enqueue.ts`: if its concurrency key is
 * limited, it first waits for a permit. The caller has taken the unique keys of the jobs again
 * (`store/enqueue/unique-jobs.ts`).
 *
 * A job whose parent did not succeed is left out. A job with open parents waits for them again. The jobs
 * that failed because of a retried job wait for it again (`store/edges/revive-followers.ts`).
 */
const RETRY = statement<RetriedRow & { limiter: string | null }>(
  'retry_jobs',
  `with clock as materialized (select clock_timestamp() as at),
  u as materialized (
    select * from json_to_recordset($2::json) as u(
      n int, id uuid, run_at timestamptz, delay_ms float8, params text, version_before int)
  ),
  back as materialized (
    select f.*, u.n, u.params, u.version_before, c.at,
      coalesce(u.run_at, c.at + make_interval(secs => u.delay_ms / 1000.0)) as wanted_at${READ_BEFORE}
    from clock c, u cross join lateral (
      select f.*, ${ctidOf('f', 'id')} as row_ctid from longshore.done f
      where f.shard = $1 and f.id = u.id and f.state = any ($5::longshore.job_state[])
        and f.finished_at <= coalesce($6::timestamptz, 'infinity')
        and ${changeableQueue('f.queue', 'u.params is not null')}
        and not exists (${unsuccessfulParent('f.id')})
      limit 1 for update
    ) f
  ),
  left_done as (
    delete from longshore.done
    where ${atCtids('select row_ctid from back', '', 'id')}
      and ${filterOnly('shard = $1 and id = any (array(select id from back))')}
  ),
  marked as (
    insert into longshore.revived select shard, id from back
  ),
  outcome as (
    insert into longshore.attempt (shard, job_id, claim_no, number, worker, pid, started_at,
      finished_at, exit_code, signal, peak_rss_bytes, cpu_ms, error_code, error, fingerprint,
      queued_at, cancel_requested_at, cancel_requested_by, next, retried)
    select shard, id, claim_no + case when started_at is null then 1 else 0 end, attempts, worker,
      pid, started_at, finished_at, exit_code, signal, peak_rss_bytes, cpu_ms, error_code, error,
      fingerprint, queued_at, cancel_requested_at, cancel_requested_by, state,
      ${RETRIED}
    from back
    on conflict (shard, job_id, claim_no) do update set retried = excluded.retried
  ),
  body as materialized (
    select j.row_ctid, j.id, b.params from back b cross join lateral (
      select ${ctidOf('j', 'id')} as row_ctid, j.id from longshore.job j
      where j.shard = $1 and j.id = b.id and b.params is not null limit 1
    ) j
  ),
  edited as (
    update longshore.job j set params = b.params::json from body b
    where ${atCtids('select row_ctid from body', 'j', 'id')} and ${filterOnly('j.shard = $1 and j.id = b.id')}
  ),
  saved as materialized (
    select s.row_ctid from back b cross join lateral (
      select ${ctidOf('s', 'job_id')} as row_ctid from longshore.step s
      where s.shard = $1 and s.job_id = b.id
        and ${SAVED} ${ONCE_PER_ROW}
    ) s
  ),
  forgotten as (
    delete from longshore.step
    where ${atCtids('select row_ctid from saved', '', 'job_id')}
      and ${filterOnly('shard = $1 and job_id = any (array(select id from back))')} ${piece('', `and ${SAVED}`)}
  ),
  children as materialized (
    select e.row_ctid from back b cross join lateral (
      select ${ctidOf('e', 'job_id')} as row_ctid from longshore.edge e
      where e.shard = $1 and e.job_id = b.id and ${OWN_CHILD}
        and ${NOT_BATCH} ${ONCE_PER_ROW}
    ) e
  ),
  disowned as (
    delete from longshore.edge
    where ${atCtids('select row_ctid from children', '', 'job_id')}
      and ${filterOnly('shard = $1 and job_id = any (array(select id from back))')} ${piece('', `and ${OWN_CHILD}`)}
  ),
  level as materialized (
    select b.*, ${KEY_LIMITER} as key_limiter, ${FAILS_UNSERVED} as fails_unserved,
      ${SUSPENDS} as suspends, b.wanted_at > b.at is true as waits,
      (extract(epoch from b.at) * 1000000)::bigint + b.n as next_seq
    from back b
  ),
  entered as (
    insert into longshore.waiting (shard, id, queue, state, rank, key_limiter, seq, blocked, run_at,
      attempts, max_attempts, claim_no, queued_at, fails_unserved, waits_for)
    select shard, id, queue,
      ${NEXT_STATE}::longshore.job_state, rank, key_limiter,
      case when not suspends and not waits and not blocks then next_seq end,
      case when not suspends and not waits and blocks then next_seq end,
      case when waits and not suspends then wanted_at end,
      case when $4::text = 'reset' then 0 else attempts end,
      ${ATTEMPTS},
      claim_no + 1,
      case when waits or suspends then null else at end,
      fails_unserved, case when suspends then '${PARENTS}' end
    from (select l.*, ${blocks('l')} as blocks from level l) l
    returning id, state, key_limiter, queue, blocked
  ),
  ${COUNT_BLOCKED}, ${counters(moves('state', NEXT_STATE, 'level'))}
  select b.id, b.queue, b.rank, b.state as was, e.state,
    case when b.params is not null then ${paramsBefore('b.id')} end as "paramsBefore",
    (extract(epoch from b.wanted_at - b.at) * 1000)::float8 as "dueInMs", null as limiter
  from back b join entered e using (id)
  union all
  select null, null, null, null, null, null, null, limiter::text from counted`,
);

const FOLLOW_ON_CITUS = distributedFunction({
  name: 'follow_release',
  args: `p_shard smallint, p_ids uuid[], p_tenant text, p_states longshore.job_state[]`,
  returns: 'table (id uuid, version integer)',
  body: `declare
    ended uuid[];
  begin
    ended := array(
      select f.id from longshore.done f
      where f.shard = p_shard and f.id = any (p_ids) and f.state = any (p_states)
        and ${changeableQueue('f.queue').replaceAll('$1', 'p_shard').replaceAll('$3', 'p_tenant')}
      for update);
    return query
    select m.moved_id, m.version_before from longshore.follow_release(p_shard, ended) m;
  end`,
});

/** Moves ended jobs to the queue of the version that a new job would get; returns those that moved. */
const FOLLOW = statement<{ id: string; version: number }>(
  'follow_release',
  `with ended as materialized (
     select f.id from unnest($2::uuid[]) as u(id) cross join lateral (
       select f.id from longshore.done f
       where f.shard = $1 and f.id = u.id and f.state = any ($4::longshore.job_state[])
         and ${changeableQueue('f.queue')}
       limit 1 for update
     ) f
   )
   select m.moved_id as id, m.version_before as version
   from longshore.follow_release($1, array(select id from ended)) m`,
  {
    citus: `select id, version from ${FOLLOW_ON_CITUS.call('$1::smallint, $2::uuid[], $3, $4::longshore.job_state[]')}`,
  },
);

interface RetriedRow {
  id: string;
  queue: number;
  rank: number;
  was: TerminalState;
  state: WaitingState;
  paramsBefore: unknown;
  dueInMs: number | null;
}

/** A retried job, with what the audit entry needs. */
export type RetriedJob = RetriedRow & { shard: number };

/** Selects jobs in one of these states that ended no later than this. */
export interface RetryScope {
  tenant: string;
  states: readonly TerminalState[];
  endedBefore: string | null;
}

/** Retries the jobs that may be retried, in one statement, and returns them. */
export async function retryJobs(
  db: Queryable,
  shard: number,
  ids: readonly string[],
  { mode, runAt, paramsJson, version = 'same' }: RetryRequest,
  { tenant, states, endedBefore }: RetryScope,
  budget: RevivalBudget = revivalBudget(),
): Promise<RetriedJob[]> {
  if (ids.length === 0) return [];
  const moved = version === 'same' ? [] : await db.run(FOLLOW, [shard, ids, tenant, states]);
  const versions = new Map(moved.map((one) => [one.id, one.version]));
  const backs = mode === 'later' && runAt === null;
  const delays = backs ? await backoffs(db, shard, ids) : new Map<string, number>();
  const batch = ids.toSorted().map((id, n) => ({
    n,
    id,
    run_at: mode === 'later' ? runAt : null,
    delay_ms: delays.get(id) ?? null,
    params: paramsJson === null ? null : db.vault.seal(tenant, paramsJson),
    version_before: versions.get(id) ?? null,
  }));
  const values = [shard, JSON.stringify(batch), tenant, mode, states, endedBefore];
  const rows = await db.run(RETRY, values);
  const limiters = rows.flatMap(({ limiter }) => limiter ?? []);
  await permit(db, shard, limiters);
  const jobs = rows.flatMap(({ limiter, ...row }) => (limiter === null ? { shard, ...row } : []));
  const suspended = jobs.filter(({ state }) => state === 'suspended').map(({ id }) => id);
  await resolveNow(db, shard, suspended);
  const back = jobs.map(({ id }) => id);
  await reviveFollowers(db, shard, back, budget, retryFollowers);
  return jobs;
}

/** Jobs that failed because of one that is retried now. */
export async function retryFollowers(
  tx: Queryable,
  shard: number,
  ids: readonly string[],
  tenant: string,
  budget: RevivalBudget,
): Promise<void> {
  const again = { mode: 'now', runAt: null, paramsJson: null } as const;
  const failed = { tenant, states: ['failed'], endedBefore: null } as const;
  await retryJobs(tx, shard, ids, again, failed, budget);
}

const BACKOFF_RULES = statement<{
  id: string;
  attempts: number;
  own: RetryPolicy | null;
  published: RetryPolicy | null;
}>(
  'backoff_rules',
  `select f.id, f.attempts, j.policy -> 'retry' as own, d.retry as published
   from unnest($2::uuid[]) as wanted(id)
   cross join lateral (
     select id, queue, attempts from longshore.done where shard = $1 and id = wanted.id limit 1
   ) f
   cross join lateral (
     select policy from longshore.job where shard = $1 and id = wanted.id limit 1
   ) j
   cross join lateral (
     select key, version from longshore.queue where shard = $1 and queue = f.queue limit 1
   ) l
   left join lateral (
     select info -> 'retry' as retry from longshore.definition
     where key = l.key and version = l.version limit 1
   ) d on true`,
);

/** The backoff of each job after its last attempt. */
async function backoffs(
  db: Queryable,
  shard: number,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const rows = await db.run(BACKOFF_RULES, [shard, ids]);
  return new Map(
    rows.map(({ id, attempts, own, published }) => {
      const policy = own ?? published ?? DEFAULT_RETRY;
      return [id, retryDelayMs(policy, Math.max(1, attempts), null, db.clock.random())];
    }),
  );
}
