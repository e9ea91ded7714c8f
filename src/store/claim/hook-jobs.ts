import { DEFAULT_MAX_ATTEMPTS } from '../../core/definition/definition.ts';
import { HOOK_MAX_ATTEMPTS, HOOK_PREFIX } from '../../core/definition/hooks.ts';
import { piece } from '../connection/backend.ts';

/** A function on PostgreSQL, which costs nothing unless it is called. Citus refuses those that read. */
const ofBody = (column: string, id: string, ofPostgres: string) =>
  piece(
    `longshore.${ofPostgres}($1, ${id})`,
    `(select b.${column} from longshore.job b where b.shard = $1 and b.id = ${id})`,
  );

const SHAPE = piece(
  'longshore.shape_of($1, parent_id)',
  `(select jsonb_build_object('paramsShape', b.policy -> 'paramsShape') from longshore.job b
      where b.shard = $1 and b.id = parent_id and b.policy ? 'paramsShape')`,
);

const DEFAULT_ATTEMPTS = piece(
  'longshore.default_attempts($1, e.queue)',
  `(select (d.info ->> 'maxAttempts')::integer
      from longshore.queue q join longshore.definition d on d.key = q.key and d.version = q.version
      where q.shard = $1 and q.queue = e.queue), ${DEFAULT_MAX_ATTEMPTS}`,
);

/**
 * Creates the hooks of jobs that end: a part of every statement that writes to `done`, except
 * `settle_and_claim`, which settles no job with hooks. It reads the rows of the CTE `ended`. Outcome and hooks are one commit, so a hook is never lost and never
 * runs for an outcome that was rolled back. Their params are `HookParams` of
 * `core/views/history.ts`.
 */
export const MAKE_HOOKS = `
  hooked as materialized (
    select e.queue, d.hooks, h.queue as hook_queue
    from (select distinct queue from ended) e
    cross join lateral (
      select key, version, tenant from longshore.queue where shard = $1 and queue = e.queue limit 1
    ) l
    cross join lateral (
      select info -> 'hooks' as hooks from longshore.definition
      where key = l.key and version = l.version limit 1
    ) d
    cross join lateral (
      select queue from longshore.queue
      where shard = $1 and key = '${HOOK_PREFIX}' || l.key and version = l.version
        and tenant = l.tenant limit 1
    ) h
  ),
  hook as materialized (
    select longshore.new_job_id($1) as id, k.hook_queue as queue, e.rank, e.id as parent_id, w.name,
      e.finished_at as at, w.n,
      json_build_object('hook', w.name, 'jobId', e.id, 'status', e.state, 'attempt', e.attempts,
        'maxAttempts', coalesce(e.max_attempts, ${DEFAULT_ATTEMPTS}), 'params', ${ofBody('params', 'e.id', 'params_of')},
        'result', e.result, 'error', e.error) as params
    from hooked k
    join ended e on e.queue = k.queue
    join (values (1, 'onSuccess', 'succeeded'), (2, 'onFail', 'failed'), (3, 'onEnd', null))
      as w(n, name, state) on k.hooks ? w.name and e.state::text = coalesce(w.state, e.state::text)
  ),
  hook_body as (
    insert into longshore.job (shard, id, queue, params, policy, parent_id, hook, created_at)
    select $1, id, queue, params, ${SHAPE}, parent_id, name, at from hook
  ),
  hook_level as (
    insert into longshore.waiting (shard, id, queue, state, rank, seq, max_attempts, queued_at)
    select $1, id, queue, 'queued', rank, (extract(epoch from at) * 1000000)::bigint + n,
      ${HOOK_MAX_ATTEMPTS}, at
    from hook
  )`;

/** What `ended` has to return for it. */
export const ENDED = 'id, queue, rank, state, attempts, max_attempts, finished_at, result, error';
