import type { RetryPolicy, TerminalState, WaitingState } from '../../core/job/job.ts';
import { DEFAULT_RETRY, retryDelayMs } from '../../core/failure/backoff.ts';
import type { RetryRequest } from '../../core/failure/retry.ts';
import { changeableQueue } from '../limits/changeable-queue.ts';
import { type Queryable, statement } from '../connection/db.ts';
import { atPlaces, filterOnly, ONCE_PER_ROW, placeOf } from '../connection/planner.ts';
import { permit, COUNT_BLOCKED, keyLimiter, blocks } from '../limits/limiters.ts';
import { moves, counters } from '../counters/counter-moves.ts';

const ofBody = (what: string) =>
  `(select ${what} from longshore.job j where j.shard = $1 and j.id = b.id limit 1)`;

/** The body knows the key, and its limiter follows from that. */
const KEY_LIMITER = keyLimiter('b.queue', ofBody('j.concurrency_key'));
const FAILS_UNHANDLED = ofBody("(j.policy ->> 'failsUnhandled')::boolean");

/**
 * Another attempt, if all have been used up. A job that never ran may have no number of its own: its
 * definition still decides.
 */
const ATTEMPTS = `case when $4::text = 'reset' or max_attempts is null then max_attempts
        else greatest(max_attempts, attempts + 1) end`;

const WAITS_OR_NOT = "case when waits then 'scheduled' else 'queued' end";

/**
 * Retrying by hand moves the narrow row from `done` back to `waiting`. Three things must not happen:
 *
 * A job must not come back twice. So the row is found and locked by id and state first, as in
 * `store/claim/settle.ts`, and all else is made from what was found: of two retries, or a retry and a
 * delete, one finds nothing.
 *
 * The outcome must not be lost. The attempt that it ended with keeps it. A job that was
 * cancelled or failed while it waited has none and gets a row in its place, under the number that
 * its events have used (`store/read/read-events.ts`); so the claim number is raised here in any case, and
 * no event of its next life has the id of one that was told before.
 *
 * A pruner that copies `done` meanwhile must learn of it; that is what `revived` is for.
 *
 * Rows are found by key and changed by position (`store/connection/planner.ts` says why).
 *
 * `entered` is where a job comes back into level, as in `store/enqueue/enqueue.ts`: if its concurrency key is
 * limited it waits for a token first. Whoever calls this has taken the unique keys of the jobs again
 * (`store/enqueue/unique-jobs.ts`).
 */
const RETRY = statement<RetriedRow & { limiter: string | null }>(
  'retry_jobs',
  `with clock as materialized (select clock_timestamp() as at),
  u as materialized (
    select * from json_to_recordset($2::json) as u(
      n int, id uuid, run_at timestamptz, delay_ms float8, params text)
  ),
  back as materialized (
    select f.*, u.n, u.params, c.at,
      coalesce(u.run_at, c.at + make_interval(secs => u.delay_ms / 1000.0)) as wanted_at
    from clock c, u cross join lateral (
      select f.*, ${placeOf('f')} as place from longshore.done f
      where f.shard = $1 and f.id = u.id and f.state = any ($5::longshore.job_state[])
        and f.finished_at <= coalesce($6::timestamptz, 'infinity')
        and ${changeableQueue('f.queue', 'u.params is not null')}
      limit 1 for update
    ) f
  ),
  left_done as (
    delete from longshore.done
    where ${atPlaces('select place from back')}
      and ${filterOnly('shard = $1 and id = any (array(select id from back))')}
  ),
  told as (
    insert into longshore.revived select shard, id from back
  ),
  outcome as (
    insert into longshore.attempt (shard, job_id, claim_no, number, worker, pid, started_at,
      finished_at, exit_code, signal, peak_rss_bytes, cpu_ms, error_code, error, fingerprint,
      queued_at, cancel_requested_at, cancel_requested_by, next, retried)
    select shard, id, claim_no + case when started_at is null then 1 else 0 end, attempts, worker,
      pid, started_at, finished_at, exit_code, signal, peak_rss_bytes, cpu_ms, error_code, error,
      fingerprint, queued_at, cancel_requested_at, cancel_requested_by, state,
      case when params is null then json_build_object('at', at, 'mode', $4::text, 'runAt', wanted_at)
        else json_build_object('at', at, 'mode', $4::text, 'runAt', wanted_at,
          'paramsBefore', longshore.params_of($1, id)) end
    from back
    on conflict (shard, job_id, claim_no) do update set retried = excluded.retried
  ),
  body as materialized (
    select j.place, j.id, b.params from back b cross join lateral (
      select ${placeOf('j')} as place, j.id from longshore.job j
      where j.shard = $1 and j.id = b.id and b.params is not null limit 1
    ) j
  ),
  edited as (
    update longshore.job j set params = b.params::json from body b
    where ${atPlaces('select place from body', 'j')} and ${filterOnly('j.shard = $1 and j.id = b.id')}
  ),
  saved as materialized (
    select s.place from back b cross join lateral (
      select ${placeOf('s')} as place from longshore.step s
      where s.shard = $1 and s.job_id = b.id and $4::text = 'reset' ${ONCE_PER_ROW}
    ) s
  ),
  forgotten as (
    delete from longshore.step
    where ${atPlaces('select place from saved')}
      and ${filterOnly('shard = $1 and job_id = any (array(select id from back))')}
  ),
  level as materialized (
    select b.*, ${KEY_LIMITER} as key_limiter, ${FAILS_UNHANDLED} as fails_unhandled,
      b.wanted_at > b.at is true as waits,
      (extract(epoch from b.at) * 1000000)::bigint + b.n as seat
    from back b
  ),
  entered as (
    insert into longshore.waiting (shard, id, queue, state, rank, key_limiter, seq, blocked, run_at,
      attempts, max_attempts, claim_no, queued_at, fails_unhandled)
    select shard, id, queue,
      ${WAITS_OR_NOT}::longshore.job_state, rank, key_limiter,
      case when not waits and not blocks then seat end,
      case when not waits and blocks then seat end,
      case when waits then wanted_at end,
      case when $4::text = 'reset' then 0 else attempts end,
      ${ATTEMPTS},
      claim_no + 1,
      case when waits then null else at end,
      fails_unhandled
    from (select l.*, ${blocks('l')} as blocks from level l) l
    returning id, state, key_limiter, queue, blocked
  ),
  ${COUNT_BLOCKED}, ${counters(moves('state', WAITS_OR_NOT, 'level'))}
  select b.id, b.queue, b.rank, b.state as was, e.state,
    case when b.params is not null then longshore.params_of($1, b.id) end as "paramsBefore",
    (extract(epoch from b.wanted_at - b.at) * 1000)::float8 as "dueInMs", null as limiter
  from back b join entered e using (id)
  union all
  select null, null, null, null, null, null, null, limiter::text from counted`,
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

/** What was changed, with enough of what was there before to keep an account of it. */
export type RetriedJob = RetriedRow & { shard: number };

/** Which of them: those in one of these states that ended no later than this. */
export interface RetryScope {
  tenant: string;
  states: readonly TerminalState[];
  endedBefore: string | null;
}

/** Retries those of the jobs that it may, in one statement, and answers with these. */
export async function retryJobs(
  db: Queryable,
  shard: number,
  ids: readonly string[],
  { mode, runAt, paramsJson }: RetryRequest,
  { tenant, states, endedBefore }: RetryScope,
  random: () => number = () => db.clock.random(),
): Promise<RetriedJob[]> {
  if (ids.length === 0) return [];
  const backs = mode === 'later' && runAt === null;
  const delays = backs ? await backoffs(db, shard, ids, random) : new Map<string, number>();
  const batch = ids.toSorted().map((id, n) => ({
    n,
    id,
    run_at: mode === 'later' ? runAt : null,
    delay_ms: delays.get(id) ?? null,
    params: paramsJson === null ? null : db.vault.seal(tenant, paramsJson),
  }));
  const values = [shard, JSON.stringify(batch), tenant, mode, states, endedBefore];
  const rows = await db.run(RETRY, values);
  const limiters = rows.flatMap(({ limiter }) => limiter ?? []);
  await permit(db, shard, limiters);
  return rows.flatMap(({ limiter, ...row }) => (limiter === null ? { shard, ...row } : []));
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

/** How long each of them would wait after the attempt that it ended with. */
async function backoffs(
  db: Queryable,
  shard: number,
  ids: readonly string[],
  random: () => number,
): Promise<Map<string, number>> {
  const rows = await db.run(BACKOFF_RULES, [shard, ids]);
  return new Map(
    rows.map(({ id, attempts, own, published }) => {
      const policy = own ?? published ?? DEFAULT_RETRY;
      return [id, retryDelayMs(policy, Math.max(1, attempts), null, random())];
    }),
  );
}
