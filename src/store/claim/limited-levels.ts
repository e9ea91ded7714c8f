import { ASKED_LEVELS } from './claim.ts';

/**
 * Parts of the statement `claim_limited` that find the levels with room: each is one CTE. $1 is the shard,
 * $2 the number of jobs, $3 the worker, $4 to $7 the levels.
 */

/** Far more than one claim takes: the room of a limiter without a limit. */
const ENDLESS = 1_000_000;

/** The levels of the caller whose queue is not paused, best first; none when the worker is dead or draining. */
export const ASKED = `
  asked as materialized (
    select l.*, k.keyed, k.definition_limiter, k.tenant_limiter
    from ${ASKED_LEVELS}
    cross join lateral (
      select keyed, definition_limiter, tenant_limiter from longshore.queue
      where shard = $1 and queue = l.queue and paused_at is null limit 1
    ) k
    where exists (
      select 1 from longshore.worker w
      where w.shard = $1 and w.instance = $3 and w.dead_at is null and w.draining_at is null
    )
    order by l.n
  )`;

/** The limiters of these levels as they are now, not locked. */
export const SEEN = `
  seen as materialized (
    select g.limiter, g.rate, g.lim <= g.in_use as full_now,
      longshore.tokens_at(g.rate, g.tokens, g.refilled_at, clock_timestamp()) as tokens
    from longshore.limiter g
    where g.shard = $1 and g.limiter = any (
      array(select definition_limiter from asked union select tenant_limiter from asked))
  )`;

/**
 * The levels whose limiters all seem to have room. A full limiter is not locked and its levels are not
 * read, so a million jobs behind it cost other queues nothing.
 */
export const OPEN_LEVELS = `
  open_level as materialized (
    select a.* from asked a
    where not exists (
      select 1 from seen s where s.limiter in (a.definition_limiter, a.tenant_limiter) and (s.full_now or s.tokens < 1))
    order by a.n
  )`;

/**
 * The limiters of open levels, locked in the order of their numbers. Only what is read here decides:
 * `seen` may be out of date.
 */
export const LOCKED_LIMITERS = `
  locked_limiter as materialized (
    select g.limiter, g.rate, coalesce(g.lim - g.in_use, ${ENDLESS}) as by_count,
      longshore.tokens_at(g.rate, g.tokens, g.refilled_at, clock_timestamp()) as tokens
    from longshore.limiter g
    where g.shard = $1 and g.limiter = any (
        array(select definition_limiter from open_level union select tenant_limiter from open_level))
      and (g.lim is not null or g.rate is not null)
    order by g.limiter for update
  )`;

/** The open levels with the room in the definition limiter and in the tenant limiter; null is unlimited. */
export const LEVEL_ROOM = `
  level as materialized (
    select l.*,
      (select least(h.by_count, floor(h.tokens)::int) from locked_limiter h where h.limiter = l.definition_limiter) as droom,
      (select least(h.by_count, floor(h.tokens)::int) from locked_limiter h where h.limiter = l.tenant_limiter) as troom
    from open_level l order by l.n
  )`;
