import type { LargeKind } from '../../core/large/large-value.ts';
import { shardOfJobId } from '../../core/job/job-id.ts';
import { type Queryable, statement } from '../connection/db.ts';

/** A value in the storage of artifacts. */
export interface NewLargeValue {
  jobId: string;
  name: string;
  tenant: string;
  kind: LargeKind;
  bytes: number;
  keyId: string | null;
}

const NOTE = statement<object>(
  'note_large_value',
  `insert into longshore.large_value (shard, job_id, name, tenant, kind, bytes, key_id, written_at)
   values ($1, $2, $3, $4, $5, $6, $7, clock_timestamp())
   on conflict (shard, job_id, name) do update set written_at = excluded.written_at`,
);

/** Before the value is written, so that no value is unknown. */
export async function noteLargeValue(db: Queryable, value: NewLargeValue): Promise<void> {
  const { jobId, name, tenant, kind, bytes, keyId } = value;
  await db.run(NOTE, [shardOfJobId(jobId), jobId, name, tenant, kind, bytes, keyId]);
}

export interface LargeValueRow {
  jobId: string;
  name: string;
  unneeded: boolean;
}

/**
 * The next values by job, and whether each is still needed. Params are needed as long as their job exists.
 * A result is needed until its job has ended without it. What was written a short time ago is needed: its
 * job may be about to be stored.
 */
const NEXT = statement<LargeValueRow>(
  'next_large_values',
  `select v.job_id as "jobId", v.name,
     v.written_at < clock_timestamp() - make_interval(secs => $4::float8 / 1000) and (
       not exists (select 1 from longshore.job j where j.shard = $1 and j.id = v.job_id)
       or (v.kind = 'result' and exists (
         select 1 from longshore.done f
         where f.shard = $1 and f.id = v.job_id
           and strpos(coalesce(f.result::text, ''), v.name) = 0))) as unneeded
   from (
     select * from longshore.large_value
     where shard = $1 and (job_id, name) > ($2::uuid, $3::text)
     order by job_id, name limit $5
   ) v
   order by v.job_id, v.name`,
);

const FIRST = { jobId: '00000000-0000-0000-0000-000000000000', name: '' };

export async function nextLargeValues(
  db: Queryable,
  shard: number,
  after: { jobId: string; name: string } | null,
  { graceMs, limit }: { graceMs: number; limit: number },
): Promise<LargeValueRow[]> {
  const { jobId, name } = after ?? FIRST;
  return await db.run(NEXT, [shard, jobId, name, graceMs, limit]);
}

const FORGET = statement<object>(
  'forget_large_value',
  `delete from longshore.large_value where shard = $1 and job_id = $2 and name = $3`,
);

/** After the value was deleted. */
export async function forgetLargeValue(
  db: Queryable,
  { jobId, name }: { jobId: string; name: string },
): Promise<void> {
  await db.run(FORGET, [shardOfJobId(jobId), jobId, name]);
}

const WAITING_BYTES = statement<{ bytes: number }>(
  'waiting_large_bytes',
  `select coalesce(sum(v.bytes), 0)::float8 as bytes
   from (
     select job_id, bytes from longshore.large_value
     where shard = $1 and tenant = $2 and kind = 'params'
     order by job_id desc limit $3
   ) v
   cross join lateral (
     select 1 from longshore.waiting w where w.shard = $1 and w.id = v.job_id limit 1
   ) w`,
);

/** The bytes of the large params of a tenant's waiting jobs, of its newest jobs with such params. */
export async function waitingLargeBytes(
  db: Queryable,
  shard: number,
  tenant: string,
  lookedAtMax: number,
): Promise<number> {
  const [row] = await db.run(WAITING_BYTES, [shard, tenant, lookedAtMax]);
  return row?.bytes ?? 0;
}

const OF_JOB = statement<{ params: string; result: string | null }>(
  'stored_values',
  `select j.params::text as params, f.result::text as result
   from longshore.job j
   cross join lateral (
     select 1 from longshore.queue q where q.shard = $1 and q.queue = j.queue and q.tenant = $3 limit 1
   ) q
   left join lateral (
     select result from longshore.done f where f.shard = $1 and f.id = j.id limit 1
   ) f on true
   where j.shard = $1 and j.id = $2`,
);

/** Params and result of a job of the tenant as they are stored; null: there is no such job. */
export async function storedValues(
  db: Queryable,
  tenant: string,
  jobId: string,
): Promise<{ params: string; result: string | null } | null> {
  const [row] = await db.run(OF_JOB, [shardOfJobId(jobId), jobId, tenant]);
  return row ?? null;
}
