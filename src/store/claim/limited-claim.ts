import { attemptsOf, type ClaimedJob, type ClaimLevel } from './claim.ts';
import { tellTaken } from './delivery-jobs.ts';
import { arrayText, type Queryable, statement } from '../connection/db.ts';
import { MOVED, counters, WITH_DELIVERIES } from '../counters/counter-moves.ts';

/**
 * Claiming where something is limited: `store/claim/claim.ts` with the limiters of definitions and tenants in
 * the way. Levels without limiters may be among the others, so that priority holds over all of them.
 *
 * Limiters that are visibly shut are not even locked, and their levels are not read: so a full limiter with
 * a million jobs before it costs others nothing. The remaining limiters are locked, in the order of their
 * numbers, and only what is read from them then counts. Each level is read as far as its limiters have
 * room. Levels may share a limiter, so what was picked is numbered for each limiter, and whatever lies beyond
 * its room is left where it is. The locks of jobs skip what others hold, hence nobody waits for a job
 * while holding a limiter.
 *
 * A rate of a key is the one thing that is still to be asked about a job which is already in its level.
 * Its limiter is locked last; a job that comes too early is blocked again, until the key has a start left.
 *
 * The answer says which queues found a limiter shut, and when one that waits for its rate opens again.
 */

export interface LimitedClaim {
  jobs: ClaimedJob[];
  /** Queues from which nothing can be had until somebody gives a token back. */
  shutQueues: number[];
  /** How long until a rate lets one of them go on; null when only a token can. */
  opensInMs: number | null;
  /** How long until a key has its next start; null when none waits for that. */
  keyOpensInMs: number | null;
  /** Whether the other levels may have more than was taken. */
  more: boolean;
}

interface LimitedRow extends ClaimedJob {
  shut: number[] | null;
  opens_ms: number | null;
  key_opens_ms: number | null;
  more: boolean;
}

/** Far more than anybody claims at once: what has no limit has this much room. */
const ENDLESS = 1_000_000;

const CLAIM_LIMITED = statement<LimitedRow>(
  'claim_limited',
  `with asked as materialized (
    select l.queue, l.rank, l.floor, l.n, k.keyed, k.definition_limiter, k.tenant_limiter
    from unnest($4::int[], $5::int[], $6::bigint[]) with ordinality as l(queue, rank, floor, n)
    cross join lateral (
      select keyed, definition_limiter, tenant_limiter from longshore.queue
      where shard = $1 and queue = l.queue and paused_at is null limit 1
    ) k
    where exists (
      select 1 from longshore.worker w
      where w.shard = $1 and w.instance = $3 and w.dead_at is null and w.draining_at is null
    )
    order by l.n
  ),
  seen as materialized (
    select g.limiter, g.rate, g.lim <= g.in_use as full_now,
      longshore.tokens_at(g.rate, g.tokens, g.refilled_at, clock_timestamp()) as tokens
    from longshore.limiter g
    where g.shard = $1 and g.limiter = any (
      array(select definition_limiter from asked union select tenant_limiter from asked))
  ),
  open_level as materialized (
    select a.* from asked a
    where not exists (
      select 1 from seen s where s.limiter in (a.definition_limiter, a.tenant_limiter) and (s.full_now or s.tokens < 1))
    order by a.n
  ),
  held as materialized (
    select g.limiter, g.rate, coalesce(g.lim - g.in_use, ${ENDLESS}) as by_count,
      longshore.tokens_at(g.rate, g.tokens, g.refilled_at, clock_timestamp()) as tokens
    from longshore.limiter g
    where g.shard = $1 and g.limiter = any (
        array(select definition_limiter from open_level union select tenant_limiter from open_level))
      and (g.lim is not null or g.rate is not null)
    order by g.limiter for update
  ),
  level as materialized (
    select l.*,
      (select least(h.by_count, floor(h.tokens)::int) from held h where h.limiter = l.definition_limiter) as droom,
      (select least(h.by_count, floor(h.tokens)::int) from held h where h.limiter = l.tenant_limiter) as troom
    from open_level l order by l.n
  ),
  picked as materialized (
    select w.*, l.n, l.droom, l.troom,
      case when l.droom is not null then l.definition_limiter end as definition_limiter,
      case when l.troom is not null then l.tenant_limiter end as tenant_limiter
    from level l cross join lateral (
      select * from longshore.waiting w
      where w.shard = $1 and w.queue = l.queue and w.rank = l.rank and w.seq > l.floor
        and (w.expires_at is null or w.expires_at > clock_timestamp())
        and (w.has_permit or w.key_limiter is null or not l.keyed)
      order by w.seq
      limit greatest(0, least($2, coalesce(l.droom, $2), coalesce(l.troom, $2)))
      for update skip locked
    ) w
    limit $2
  ),
  held_key as materialized (
    select k.limiter, d.key_rate as rate,
      longshore.tokens_at(d.key_rate, k.tokens, k.refilled_at, clock_timestamp()) as tokens
    from longshore.limiter k cross join lateral (
      select key_rate from longshore.limiter d
      where d.shard = $1 and d.limiter = k.definition and d.key_rate is not null limit 1
    ) d
    where k.shard = $1 and k.limiter = any (array(select key_limiter from picked where has_permit))
    order by k.limiter for update of k
  ),
  numbered as materialized (
    select p.*,
      row_number() over (partition by p.key_limiter order by p.n, p.seq) > floor(k.tokens) as too_early
    from picked p left join held_key k on k.limiter = p.key_limiter
  ),
  fitting as materialized (
    select *, row_number() over (partition by definition_limiter order by n, seq) as dn,
      row_number() over (partition by tenant_limiter order by n, seq) as tn
    from numbered where too_early is not true
  ),
  ok as materialized (
    select * from fitting
    where (definition_limiter is null or dn <= droom) and (tenant_limiter is null or tn <= troom)
    order by n, seq
  ),
  left_waiting as (
    delete from longshore.waiting
    where shard = $1 and id = any (array(select id from ok))
  ),
  taken as (
    insert into longshore.running (shard, id, queue, state, rank, key_limiter, expires_at, attempts,
      max_attempts, claim_no, interruptions, queued_at, worker, started_at, tokens, fails_unhandled)
    select shard, id, queue, 'running', rank, key_limiter, expires_at, attempts + 1,
      ${attemptsOf('ok')}, claim_no + 1, interruptions, queued_at, $3, clock_timestamp(),
      nullif(array_remove(array[definition_limiter, tenant_limiter, case when has_permit then key_limiter end], null), '{}'),
      fails_unhandled
    from ok
  ),
  sent_back as (
    update longshore.waiting w set blocked = w.seq, seq = null, has_permit = false
    where w.shard = $1 and w.id = any (array(select id from numbered where too_early))
  ),
  spent as materialized (
    select h.limiter, h.rate, h.by_count - u.used as by_count, h.tokens - u.used as tokens, u.used
    from held h cross join lateral (
      select count(*)::int as used from ok where h.limiter in (ok.definition_limiter, ok.tenant_limiter)
    ) u
  ),
  counted as (
    update longshore.limiter g
    set in_use = g.in_use + s.used, refilled_at = case when s.rate is not null then c.at end,
      tokens = longshore.tokens_at(g.rate, g.tokens, g.refilled_at, c.at) - s.used
    from spent s, (select clock_timestamp() as at) c
    where g.shard = $1 and g.limiter = any (array(select limiter from spent where used > 0))
      and g.limiter = s.limiter
  ),
  spent_key as materialized (
    select h.limiter, h.rate, h.tokens - u.used as tokens, u.used, u.early
    from held_key h cross join lateral (
      select count(*) filter (where n.id = any (array(select id from ok)))::int as used,
        count(*) filter (where n.too_early)::int as early
      from numbered n where n.key_limiter = h.limiter
    ) u
  ),
  counted_key as (
    update longshore.limiter g
    set tokens = s.tokens, refilled_at = c.at,
      in_use = g.in_use - s.early, blocked = g.blocked + s.early,
      next_at = case when g.blocked + s.early > 0
        then c.at + make_interval(secs => longshore.token_in_ms(s.rate, s.tokens) / 1000) end
    from spent_key s, (select clock_timestamp() as at) c
    where g.shard = $1 and g.limiter = any (array(select limiter from spent_key)) and g.limiter = s.limiter
    returning (extract(epoch from g.next_at - c.at) * 1000)::float8 as ms
  ),
  ${tellTaken('ok')}, ${counters(MOVED, WITH_DELIVERIES)},
  shut as materialized (
    select limiter, case when full_now is not true then longshore.token_in_ms(rate, tokens) end as ms
    from seen where full_now or tokens < 1
    union all
    select limiter, case when by_count > 0 then longshore.token_in_ms(rate, tokens) end
    from spent where by_count < 1 or tokens < 1
  )
  select p.id, p.queue, p.rank, p.seq, p.attempts + 1 as attempts,
    ${attemptsOf('p')} as "maxAttempts", p.claim_no + 1 as claim, p.interruptions,
    j.params::text as "paramsJson", j.policy,
    num_nonnulls(p.definition_limiter, p.tenant_limiter) > 0 or p.has_permit as limited, j.traceparent,
    null::int[] as shut, null::float8 as opens_ms, null::float8 as key_opens_ms, null as more
  from ok p cross join lateral (
    select params, policy, traceparent from longshore.job where shard = $1 and id = p.id limit 1
  ) j
  union all
  select null, null, null, null, null, null, null, null, null, null, null, null,
    array(select distinct a.queue from asked a
      where exists (select 1 from shut s where s.limiter in (a.definition_limiter, a.tenant_limiter))),
    (select min(ms) from shut), (select min(ms) from counted_key),
    (select count(*) from picked) >= $2 or (select count(*) from ok) < (select count(*) from picked)`,
);

const NOTHING: LimitedClaim = {
  jobs: [],
  shutQueues: [],
  opensInMs: null,
  keyOpensInMs: null,
  more: false,
};

/** Takes at most `limit` jobs, and no more of each thing that is limited than it has room for. */
export async function claimLimited(
  db: Queryable,
  shard: number,
  limit: number,
  worker: string,
  levels: readonly ClaimLevel[],
): Promise<LimitedClaim> {
  if (limit <= 0 || levels.length === 0) return NOTHING;
  const rows = await db.run(CLAIM_LIMITED, [
    shard,
    limit,
    worker,
    arrayText(levels.map((level) => level.queue)),
    arrayText(levels.map((level) => level.rank)),
    arrayText(levels.map((level) => level.floor)),
  ]);
  const about = rows.find((row) => row.shut !== null);
  return {
    jobs: rows.filter((row) => row.shut === null),
    shutQueues: about?.shut ?? [],
    opensInMs: about?.opens_ms ?? null,
    keyOpensInMs: about?.key_opens_ms ?? null,
    more: about?.more ?? false,
  };
}
