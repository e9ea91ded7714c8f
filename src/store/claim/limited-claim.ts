import { attemptsOf, type ClaimedJob, type ClaimLine } from './claim.ts';
import { tellTaken } from './delivery-jobs.ts';
import { arrayText, type Queryable, statement } from '../connection/db.ts';
import { MOVED, tally, WITH_DELIVERIES } from '../counters/counter-moves.ts';

/**
 * Claiming where something is limited: `store/claim/claim.ts` with the gates of definitions and tenants in
 * the way. Lines without gates may be among the others, so that priority holds over all of them.
 *
 * Gates that are visibly shut are not even locked, and their lines are not read: so a full gate with
 * a million jobs before it costs others nothing. The remaining gates are locked, in the order of their
 * numbers, and only what is read from them then counts. Each line is read as far as its gates have
 * room. Lines may share a gate, so what was picked is numbered for each gate, and whatever lies beyond
 * its room is left where it is. The locks of jobs skip what others hold, hence nobody waits for a job
 * while holding a gate.
 *
 * A rate of a key is the one thing that is still to be asked about a job which is already in its line.
 * Its gate is locked last; a job that comes too early is parked again, until the key has a start left.
 *
 * The answer says which lanes found a gate shut, and when one that waits for its rate opens again.
 */

export interface GatedClaim {
  jobs: ClaimedJob[];
  /** Lanes from which nothing can be had until somebody gives a token back. */
  shutLanes: number[];
  /** How long until a rate lets one of them go on; null when only a token can. */
  opensInMs: number | null;
  /** How long until a key has its next start; null when none waits for that. */
  keyOpensInMs: number | null;
  /** Whether the other lines may have more than was taken. */
  more: boolean;
}

interface GatedRow extends ClaimedJob {
  shut: number[] | null;
  opens_ms: number | null;
  key_opens_ms: number | null;
  more: boolean;
}

/** Far more than anybody claims at once: what has no limit has this much room. */
const ENDLESS = 1_000_000;

const CLAIM_GATED = statement<GatedRow>(
  'claim_gated',
  `with asked as materialized (
    select l.lane, l.rank, l.floor, l.n, k.keyed, k.dgate, k.tgate
    from unnest($4::int[], $5::int[], $6::bigint[]) with ordinality as l(lane, rank, floor, n)
    cross join lateral (
      select keyed, dgate, tgate from longshore.lane
      where shard = $1 and lane = l.lane and paused_at is null limit 1
    ) k
    where exists (
      select 1 from longshore.worker w
      where w.shard = $1 and w.instance = $3 and w.dead_at is null and w.draining_at is null
    )
    order by l.n
  ),
  seen as materialized (
    select g.gate, g.rate, g.lim <= g.in_use as full_now,
      longshore.tokens_at(g.rate, g.tokens, g.refilled_at, clock_timestamp()) as tokens
    from longshore.gate g
    where g.shard = $1 and g.gate = any (
      array(select dgate from asked union select tgate from asked))
  ),
  open_line as materialized (
    select a.* from asked a
    where not exists (
      select 1 from seen s where s.gate in (a.dgate, a.tgate) and (s.full_now or s.tokens < 1))
    order by a.n
  ),
  held as materialized (
    select g.gate, g.rate, coalesce(g.lim - g.in_use, ${ENDLESS}) as by_count,
      longshore.tokens_at(g.rate, g.tokens, g.refilled_at, clock_timestamp()) as tokens
    from longshore.gate g
    where g.shard = $1 and g.gate = any (
        array(select dgate from open_line union select tgate from open_line))
      and (g.lim is not null or g.rate is not null)
    order by g.gate for update
  ),
  line as materialized (
    select l.*,
      (select least(h.by_count, floor(h.tokens)::int) from held h where h.gate = l.dgate) as droom,
      (select least(h.by_count, floor(h.tokens)::int) from held h where h.gate = l.tgate) as troom
    from open_line l order by l.n
  ),
  picked as materialized (
    select w.*, l.n, l.droom, l.troom,
      case when l.droom is not null then l.dgate end as dgate,
      case when l.troom is not null then l.tgate end as tgate
    from line l cross join lateral (
      select * from longshore.waiting w
      where w.shard = $1 and w.lane = l.lane and w.rank = l.rank and w.seq > l.floor
        and (w.expires_at is null or w.expires_at > clock_timestamp())
        and (w.key_token or w.kgate is null or not l.keyed)
      order by w.seq
      limit greatest(0, least($2, coalesce(l.droom, $2), coalesce(l.troom, $2)))
      for update skip locked
    ) w
    limit $2
  ),
  held_key as materialized (
    select k.gate, d.key_rate as rate,
      longshore.tokens_at(d.key_rate, k.tokens, k.refilled_at, clock_timestamp()) as tokens
    from longshore.gate k cross join lateral (
      select key_rate from longshore.gate d
      where d.shard = $1 and d.gate = k.definition and d.key_rate is not null limit 1
    ) d
    where k.shard = $1 and k.gate = any (array(select kgate from picked where key_token))
    order by k.gate for update of k
  ),
  numbered as materialized (
    select p.*,
      row_number() over (partition by p.kgate order by p.n, p.seq) > floor(k.tokens) as too_early
    from picked p left join held_key k on k.gate = p.kgate
  ),
  fitting as materialized (
    select *, row_number() over (partition by dgate order by n, seq) as dn,
      row_number() over (partition by tgate order by n, seq) as tn
    from numbered where too_early is not true
  ),
  ok as materialized (
    select * from fitting
    where (dgate is null or dn <= droom) and (tgate is null or tn <= troom)
    order by n, seq
  ),
  left_waiting as (
    delete from longshore.waiting
    where shard = $1 and id = any (array(select id from ok))
  ),
  taken as (
    insert into longshore.running (shard, id, lane, state, rank, kgate, expires_at, attempts,
      max_attempts, claim_no, interruptions, queued_at, worker, started_at, tokens, fails_unhandled)
    select shard, id, lane, 'running', rank, kgate, expires_at, attempts + 1,
      ${attemptsOf('ok')}, claim_no + 1, interruptions, queued_at, $3, clock_timestamp(),
      nullif(array_remove(array[dgate, tgate, case when key_token then kgate end], null), '{}'),
      fails_unhandled
    from ok
  ),
  sent_back as (
    update longshore.waiting w set parked = w.seq, seq = null, key_token = false
    where w.shard = $1 and w.id = any (array(select id from numbered where too_early))
  ),
  spent as materialized (
    select h.gate, h.rate, h.by_count - u.used as by_count, h.tokens - u.used as tokens, u.used
    from held h cross join lateral (
      select count(*)::int as used from ok where h.gate in (ok.dgate, ok.tgate)
    ) u
  ),
  counted as (
    update longshore.gate g
    set in_use = g.in_use + s.used, refilled_at = case when s.rate is not null then c.at end,
      tokens = longshore.tokens_at(g.rate, g.tokens, g.refilled_at, c.at) - s.used
    from spent s, (select clock_timestamp() as at) c
    where g.shard = $1 and g.gate = any (array(select gate from spent where used > 0))
      and g.gate = s.gate
  ),
  spent_key as materialized (
    select h.gate, h.rate, h.tokens - u.used as tokens, u.used, u.early
    from held_key h cross join lateral (
      select count(*) filter (where n.id = any (array(select id from ok)))::int as used,
        count(*) filter (where n.too_early)::int as early
      from numbered n where n.kgate = h.gate
    ) u
  ),
  counted_key as (
    update longshore.gate g
    set tokens = s.tokens, refilled_at = c.at,
      in_use = g.in_use - s.early, parked = g.parked + s.early,
      next_at = case when g.parked + s.early > 0
        then c.at + make_interval(secs => longshore.token_in_ms(s.rate, s.tokens) / 1000) end
    from spent_key s, (select clock_timestamp() as at) c
    where g.shard = $1 and g.gate = any (array(select gate from spent_key)) and g.gate = s.gate
    returning (extract(epoch from g.next_at - c.at) * 1000)::float8 as ms
  ),
  ${tellTaken('ok')}, ${tally(MOVED, WITH_DELIVERIES)},
  shut as materialized (
    select gate, case when full_now is not true then longshore.token_in_ms(rate, tokens) end as ms
    from seen where full_now or tokens < 1
    union all
    select gate, case when by_count > 0 then longshore.token_in_ms(rate, tokens) end
    from spent where by_count < 1 or tokens < 1
  )
  select p.id, p.lane, p.rank, p.seq, p.attempts + 1 as attempts,
    ${attemptsOf('p')} as "maxAttempts", p.claim_no + 1 as claim, p.interruptions,
    j.params::text as "paramsJson", j.policy,
    num_nonnulls(p.dgate, p.tgate) > 0 or p.key_token as gated, j.traceparent,
    null::int[] as shut, null::float8 as opens_ms, null::float8 as key_opens_ms, null as more
  from ok p cross join lateral (
    select params, policy, traceparent from longshore.job where shard = $1 and id = p.id limit 1
  ) j
  union all
  select null, null, null, null, null, null, null, null, null, null, null, null,
    array(select distinct a.lane from asked a
      where exists (select 1 from shut s where s.gate in (a.dgate, a.tgate))),
    (select min(ms) from shut), (select min(ms) from counted_key),
    (select count(*) from picked) >= $2 or (select count(*) from ok) < (select count(*) from picked)`,
);

const NOTHING: GatedClaim = {
  jobs: [],
  shutLanes: [],
  opensInMs: null,
  keyOpensInMs: null,
  more: false,
};

/** Takes at most `limit` jobs, and no more of each thing that is limited than it has room for. */
export async function claimGated(
  db: Queryable,
  shard: number,
  limit: number,
  worker: string,
  lines: readonly ClaimLine[],
): Promise<GatedClaim> {
  if (limit <= 0 || lines.length === 0) return NOTHING;
  const rows = await db.run(CLAIM_GATED, [
    shard,
    limit,
    worker,
    arrayText(lines.map((line) => line.lane)),
    arrayText(lines.map((line) => line.rank)),
    arrayText(lines.map((line) => line.floor)),
  ]);
  const about = rows.find((row) => row.shut !== null);
  return {
    jobs: rows.filter((row) => row.shut === null),
    shutLanes: about?.shut ?? [],
    opensInMs: about?.opens_ms ?? null,
    keyOpensInMs: about?.key_opens_ms ?? null,
    more: about?.more ?? false,
  };
}
