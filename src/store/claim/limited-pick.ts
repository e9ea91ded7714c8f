/**
 * Parts of the statement `claim_limited` that choose the jobs: each is one CTE. $1 is the shard, $2 the
 * number of jobs.
 */

/**
 * The first jobs of each level, locked, no more than its limiters have room for. Jobs that another claim
 * has locked are skipped, so a claim never waits for a job while it holds a limiter.
 */
export const PICKED = `
  picked as materialized (
    select w.*, coalesce(w.max_attempts, l.attempts) as attempts_max, l.n, l.droom, l.troom,
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
  )`;

/**
 * The limiters of keys that have a rate, locked last. The rate of a key is checked only now, when the job
 * is in its level already.
 */
export const LOCKED_KEYS = `
  locked_key as materialized (
    select k.limiter, d.key_rate as rate,
      longshore.tokens_at(d.key_rate, k.tokens, k.refilled_at, clock_timestamp()) as tokens
    from longshore.limiter k cross join lateral (
      select key_rate from longshore.limiter d
      where d.shard = $1 and d.limiter = k.definition and d.key_rate is not null limit 1
    ) d
    where k.shard = $1 and k.limiter = any (array(select key_limiter from picked where has_permit))
    order by k.limiter for update of k
  )`;

/** The picked jobs; `too_early` marks those for which the rate of their key has no token left. */
export const NUMBERED = `
  numbered as materialized (
    select p.*,
      row_number() over (partition by p.key_limiter order by p.n, p.seq) > floor(k.tokens) as too_early
    from picked p left join locked_key k on k.limiter = p.key_limiter
  )`;

/** The jobs that are not too early, numbered per limiter, because several levels may share one. */
export const FITTING = `
  fitting as materialized (
    select *, row_number() over (partition by definition_limiter order by n, seq) as dn,
      row_number() over (partition by tenant_limiter order by n, seq) as tn
    from numbered where too_early is not true
  )`;

/** The jobs that fit into the room of all their limiters: these are claimed. */
export const CHOSEN = `
  ok as materialized (
    select * from fitting
    where (definition_limiter is null or dn <= droom) and (tenant_limiter is null or tn <= troom)
    order by n, seq
  )`;
