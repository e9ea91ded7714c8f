import { DEFAULT_TENANT } from '../../core/access/scope.ts';
import { VERSION_WHEN_DUE } from '../../core/job/new-job.ts';
import { CannotOpen } from '../../core/access/sealed.ts';
import { type Db, statement } from '../connection/db.ts';

/** Params that a new version of a definition will get. */
export interface WaitingParams {
  kind: 'job' | 'schedule';
  id: string;
  tenant: string;
  /** Null: they are encrypted, and the key is missing. */
  paramsJson: string | null;
  paramsShape: number;
}

/** More are not read at once. */
const CHARS_MAX = 16 * 1024 * 1024;

interface Row {
  id: string;
  tenant: string;
  /** Null: beyond the limit. */
  params: string | null;
  shape: number;
}

/** Jobs that get their version when they become queued. Of all tenants for the tenant `default`. */
const JOBS = statement<Row>(
  'waiting_params',
  `select j.id, j.tenant, j.shape, case when j.chars < ${CHARS_MAX} then j.params end as params from (
     select j.id, j.tenant, j.shape, j.params, sum(length(j.params)) over (order by j.id) as chars
     from (
       select j.id, q.tenant, j.params::text as params,
         coalesce((j.policy ->> 'paramsShape')::int, 1) as shape
       from longshore.queue q
       cross join lateral (
         select j.id, j.params, j.policy from longshore.job j
         where j.shard = $1 and j.queue = q.queue order by j.id limit $4
       ) j
       cross join lateral (
         select 1 from longshore.waiting w where w.shard = $1 and w.id = j.id limit 1
       ) w
       where q.shard = $1 and q.key = $2 and q.version = ${VERSION_WHEN_DUE}
         and ($3 = '${DEFAULT_TENANT}' or q.tenant = $3)
       order by j.id limit $4
     ) j
   ) j
   order by j.id`,
);

const SCHEDULES = statement<Row>(
  'schedule_params',
  `select s.id, t.name as tenant, s.params, s.shape
   from (select $3::text as name union
         select name from longshore.tenant where $3 = '${DEFAULT_TENANT}') t
   cross join lateral (
     select s.id, s.params::text as params, s.params_shape as shape from longshore.schedule s
     where s.shard = $1 and s.tenant = t.name and s.definition_key = $2
       and s.definition_version is null and s.enabled
     order by s.id limit $4
   ) s
   order by s.id limit $4`,
);

/** At most so many of each kind, over all shards. */
export async function readWaitingParams(
  db: Db,
  tenant: string,
  key: string,
  limits: { jobs: number; schedules: number },
): Promise<{ found: WaitingParams[]; isCut: boolean }> {
  const found: WaitingParams[] = [];
  let isCut = false;
  for (const [kind, asked, limit] of [
    ['job', JOBS, limits.jobs],
    ['schedule', SCHEDULES, limits.schedules],
  ] as const) {
    let left = limit;
    for (let shard = 0; shard < db.shards && left > 0; shard += 1) {
      const rows = await db.run(asked, [shard, key, tenant, left]);
      left -= rows.length;
      for (const { id, tenant: of, params, shape: paramsShape } of rows) {
        if (params === null) isCut = true;
        else found.push({ kind, id, tenant: of, paramsShape, paramsJson: opened(db, of, params) });
      }
    }
  }
  return { found, isCut };
}

function opened(db: Db, tenant: string, params: string): string | null {
  try {
    return db.vault.open(tenant, params);
  } catch (error) {
    if (error instanceof CannotOpen) return null;
    throw error;
  }
}
