/**
 * Parts of the statement `claim_limited` that write: each is one CTE. $1 is the shard, $3 the worker.
 */

/** Deletes the claimed jobs from `waiting`; yields none. */
export const DELETE_WAITING = `
  left_waiting as (
    delete from longshore.waiting
    where shard = $1 and id = any (array(select id from ok))
  )`;

/** The claimed jobs as rows of `running`, each with the limiters whose permits it holds; yields none. */
export const INSERT_RUNNING = `
  taken as (
    insert into longshore.running (shard, id, queue, state, rank, key_limiter, expires_at, attempts,
      max_attempts, claim_no, interruptions, queued_at, worker, started_at, permits, fails_unserved,
      watched)
    select shard, id, queue, 'running', rank, key_limiter, expires_at, attempts + 1,
      attempts_max, claim_no + 1, interruptions, queued_at, $3, clock_timestamp(),
      nullif(array_remove(array[definition_limiter, tenant_limiter, case when has_permit then key_limiter end], null), '{}'),
      fails_unserved, watched
    from ok
  )`;

/** Blocks the jobs that are too early until their key has a token; yields none. */
export const BLOCK_EARLY = `
  sent_back as (
    update longshore.waiting w set blocked = w.seq, seq = null, has_permit = false
    where w.shard = $1 and w.id = any (array(select id from numbered where too_early))
  )`;

/** The locked limiters with what is left of them after this claim. */
export const SPENT = `
  spent as materialized (
    select h.limiter, h.rate, h.by_count - u.used as by_count, h.tokens - u.used as tokens, u.used
    from locked_limiter h cross join lateral (
      select count(*)::int as used from ok where h.limiter in (ok.definition_limiter, ok.tenant_limiter)
    ) u
  )`;

/** Writes the counters of the limiters that were used; yields none. */
export const COUNT_SPENT = `
  counted as (
    update longshore.limiter g
    set in_use = g.in_use + s.used, refilled_at = case when s.rate is not null then c.at end,
      tokens = longshore.tokens_at(g.rate, g.tokens, g.refilled_at, c.at) - s.used
    from spent s, (select clock_timestamp() as at) c
    where g.shard = $1 and g.limiter = any (array(select limiter from spent where used > 0))
      and g.limiter = s.limiter
  )`;

/** The locked keys with the tokens that are left, and the number of jobs claimed and blocked. */
export const SPENT_KEYS = `
  spent_key as materialized (
    select h.limiter, h.rate, h.tokens - u.used as tokens, u.used, u.early
    from locked_key h cross join lateral (
      select count(*) filter (where n.id = any (array(select id from ok)))::int as used,
        count(*) filter (where n.too_early)::int as early
      from numbered n where n.key_limiter = h.limiter
    ) u
  )`;

/** Writes the counters of these keys; yields the time until the next token of each, in milliseconds. */
export const COUNT_SPENT_KEYS = `
  counted_key as (
    update longshore.limiter g
    set tokens = s.tokens, refilled_at = c.at,
      in_use = g.in_use - s.early, blocked = g.blocked + s.early,
      next_at = case when g.blocked + s.early > 0
        then c.at + make_interval(secs => longshore.token_in_ms(s.rate, s.tokens) / 1000) end
    from spent_key s, (select clock_timestamp() as at) c
    where g.shard = $1 and g.limiter = any (array(select limiter from spent_key)) and g.limiter = s.limiter
    returning (extract(epoch from g.next_at - c.at) * 1000)::float8 as ms
  )`;

/** The limiters without room, each with the time until its rate has a token; null waits for a permit. */
export const SHUT = `
  shut as materialized (
    select limiter, case when full_now is not true then longshore.token_in_ms(rate, tokens) end as ms
    from seen where full_now or tokens < 1
    union all
    select limiter, case when by_count > 0 then longshore.token_in_ms(rate, tokens) end
    from spent where by_count < 1 or tokens < 1
  )`;
