import { HOOK_PREFIX } from '../../core/definition/hooks.ts';

/**
 * Part of the roll-up (`roll-up.ts`): adds the moves to the usage of their day, by tenant and definition.
 * A hook counts with its definition: it is work, but not a job. Deliveries and messages of alerts are
 * work of the server and do not count. A job counts when it ends, an attempt when its time is known: rows
 * about waiting have the state running. $1 is the shard.
 */
export const USAGE_OF_MOVES = `
  usage_moved as (
    insert into longshore.usage_day as t
      (shard, day, tenant, key, jobs, attempts, run_ms, cpu_ms, peak_rss_bytes)
    select $1, (m.minute at time zone 'UTC')::date, l.tenant,
      case when l.hook then substr(l.key, ${HOOK_PREFIX.length + 1}) else l.key end,
      coalesce(sum(m.n) filter (where m.state in ('succeeded', 'failed', 'cancelled') and not l.hook), 0),
      coalesce(sum(m.timed) filter (where m.state <> 'running' and m.bucket is not null), 0),
      coalesce(sum(m.ms) filter (where m.state <> 'running' and m.bucket is not null), 0),
      coalesce(sum(m.cpu_ms), 0), max(m.peak_rss_bytes)
    from move m cross join lateral (
      select tenant, key, left(key, ${HOOK_PREFIX.length}) = '${HOOK_PREFIX}' as hook from longshore.queue
      where shard = $1 and queue = m.queue
        and (left(key, 1) <> '$' or left(key, ${HOOK_PREFIX.length}) = '${HOOK_PREFIX}') limit 1
    ) l
    where m.state in ('succeeded', 'failed', 'cancelled') or m.state <> 'running' and m.timed > 0
    group by 2, 3, 4
    order by 2, 3, 4
    on conflict (shard, day, tenant, key) do update
      set jobs = t.jobs + excluded.jobs, attempts = t.attempts + excluded.attempts,
        run_ms = t.run_ms + excluded.run_ms, cpu_ms = t.cpu_ms + excluded.cpu_ms,
        peak_rss_bytes = greatest(t.peak_rss_bytes, excluded.peak_rss_bytes)
  )`;
