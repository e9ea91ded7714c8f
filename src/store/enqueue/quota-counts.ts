import { type Db, statement } from '../connection/db.ts';

const QUEUED = statement<{ jobs: number }>(
  'count_queued',
  `select count(*)::int as jobs from (
     select 1 from longshore.queue l cross join lateral (
       select 1 from longshore.waiting w
       where w.shard = $1 and w.queue = l.queue and w.seq is not null limit $3
     ) w
     where l.shard = $1 and l.tenant = $2 limit $3
   ) q`,
);

const SCHEDULES = statement<{ schedules: number }>(
  'count_schedules',
  `select count(*)::int as schedules from (
     select 1 from longshore.schedule s where s.shard = $1 and s.tenant = $2 limit $3
   ) q`,
);

const WEBHOOKS = statement<{ webhooks: number }>(
  'count_webhooks',
  'select count(*)::int as webhooks from longshore.webhook where tenant = $1',
);

/** How many jobs of a tenant are queued. Counts `max` at most in each shard. */
export async function countQueued(db: Db, tenant: string, max: number): Promise<number> {
  let jobs = 0;
  for (let shard = 0; shard < db.shards; shard += 1) {
    const [row] = await db.run(QUEUED, [shard, tenant, max]);
    jobs += row?.jobs ?? 0;
  }
  return jobs;
}

/** How many schedules a tenant has. Counts `max` at most in each shard. */
export async function countSchedules(db: Db, tenant: string, max: number): Promise<number> {
  let schedules = 0;
  for (let shard = 0; shard < db.shards; shard += 1) {
    const [row] = await db.run(SCHEDULES, [shard, tenant, max]);
    schedules += row?.schedules ?? 0;
  }
  return schedules;
}

export async function countWebhooks(db: Db, tenant: string): Promise<number> {
  const [row] = await db.run(WEBHOOKS, [tenant]);
  return row?.webhooks ?? 0;
}
