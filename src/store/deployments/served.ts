import { DEFAULT_TENANT } from '../../core/access/scope.ts';
import { HOOK_PREFIX } from '../../core/definition/hooks.ts';
import { NOW_WITHIN } from '../connection/backend.ts';
import { type Queryable, statement } from '../connection/db.ts';

/** A deployment that workers should serve now. */
export interface ServedDeployment {
  number: number;
  tenant: string;
  sha256: string;
  format: 'tar.gz' | 'zip';
  bytes: number;
  /** The JSON of `longshore.json`. */
  manifest: unknown;
  /** Of the archive; null: it is not signed. */
  signature: unknown;
}

interface ServedRow extends Omit<ServedDeployment, 'bytes'> {
  bytes: string;
}

/** Deployments that new jobs get, and older ones with jobs that could start now. */
const SERVED = statement<ServedRow>(
  'served_deployments',
  `select d.number, d.tenant, d.sha256, a.format, a.bytes::text, d.manifest, a.signature
   from longshore.deployment d
   join longshore.artifact a on a.tenant = d.tenant and a.sha256 = d.sha256
   where d.retired_at is null and ($2::text is null or d.tenant in ($2, '${DEFAULT_TENANT}')) and (
     exists (select 1 from longshore.release r
             where r.tenant = d.tenant and d.number in (r.current, r.canary))
     or exists (
       select 1 from longshore.queue q
       cross join lateral (
         select 1 from longshore.waiting w
         where w.shard = q.shard and w.queue = q.queue and w.seq is not null limit 1
       ) w
       where q.shard = any ($1::smallint[]) and q.version = d.number
         and q.key = any (d.keys || array(select '${HOOK_PREFIX}' || k from unnest(d.keys) as k))))
   order by d.number`,
);

const NOTE_PROBLEM = statement<{ number: number }>(
  'note_load_problem',
  `update longshore.deployment
   set load_problem = $2, load_problem_at = case when $2::text is not null then
     coalesce(load_problem_at, ${NOW_WITHIN}) end
   where number = $1 and load_problem is distinct from $2 returning number`,
);

/** Null: a worker has loaded it. */
export async function noteLoadProblem(
  db: Queryable,
  number: number,
  problem: string | null,
): Promise<void> {
  await db.run(NOTE_PROBLEM, [number, problem]);
}

/** Of all tenants, or of one and the shared ones. */
export async function servedDeployments(
  db: Queryable & { shards: number },
  tenant: string | null,
): Promise<ServedDeployment[]> {
  const shards = Array.from({ length: db.shards }, (_, shard) => shard);
  const rows = await db.run(SERVED, [shards, tenant]);
  return rows.map(({ bytes, ...row }) => ({ ...row, bytes: Number(bytes) }));
}
