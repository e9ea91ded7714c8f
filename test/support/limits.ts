import { expect } from 'vitest';
import type { ClaimedJob } from '../../src/store/claim/claim.ts';
import {
  claimLimited as claimFrom,
  type LimitedClaim,
} from '../../src/store/claim/limited-claim.ts';
import { publishDefinitions } from '../../src/store/enqueue/definitions.ts';
import { syncLimits } from '../../src/store/limits/sync-limits.ts';
import { defineJob } from '../../src/core/definition/define.ts';
import type { LimitsInput } from '../../src/core/queue/limits.ts';
import { everyLevel } from './jobs.ts';
import type { TestDatabase } from './servers/database.ts';

/** A worker comes up with this definition. */
export async function publish(
  { db }: TestDatabase,
  key: string,
  limits: LimitsInput = {},
  version = 1,
): Promise<void> {
  await publishDefinitions(db, [defineJob({ key, version, ...limits, run: () => null }).info]);
  await syncLimits(db, [key]);
}

/** Claims from every level, as a worker that serves all of them. */
export async function claimLimited(
  database: TestDatabase,
  worker: string,
  limit: number,
): Promise<LimitedClaim> {
  return await claimFrom(database.db, 0, limit, worker, await everyLevel(database));
}

export async function take(
  database: TestDatabase,
  worker: string,
  limit: number,
): Promise<ClaimedJob[]> {
  return (await claimLimited(database, worker, limit)).jobs;
}

/** Nothing waits or runs, and nothing is limited. Queues stay, since processes remember them. */
export async function clearFlow({ sql }: TestDatabase): Promise<void> {
  await sql(`truncate longshore.job, longshore.waiting, longshore.running, longshore.done,
    longshore.attempt, longshore.worker, longshore.definition, longshore.limiter,
    longshore.limit_override, longshore.pause`);
  await sql(
    `update longshore.queue set definition_limiter = null, tenant_limiter = null, keyed = false, paused_at = null`,
  );
}

/** What the limiters say, against what the jobs say: the two must never differ. */
const RECOUNT = `
  select coalesce(g.name, g.limiter::text) as limiter, g.in_use, g.blocked,
    (select count(*)::int from longshore.running r where g.limiter = any (r.permits))
      + (select count(*)::int from longshore.waiting w where w.key_limiter = g.limiter and w.has_permit)
      as permits,
    (select count(*)::int from longshore.waiting w
     where w.key_limiter = g.limiter and w.blocked is not null) as waiting
  from longshore.limiter g`;

const LOST = `
  select t.limiter from longshore.running r cross join lateral unnest(r.permits) as t(limiter)
  where not exists (select 1 from longshore.limiter g where g.limiter = t.limiter)
  union all
  select w.key_limiter from longshore.waiting w
  where (w.has_permit or w.blocked is not null)
    and not exists (select 1 from longshore.limiter g where g.limiter = w.key_limiter)`;

export async function expectNoDrift({ sql }: TestDatabase): Promise<void> {
  const limiters = await sql<Record<'in_use' | 'permits' | 'blocked' | 'waiting', number>>(RECOUNT);
  const wrong = limiters.filter(
    (limiter) => limiter.in_use !== limiter.permits || limiter.blocked !== limiter.waiting,
  );
  expect(wrong, 'limiters that count wrongly').toEqual([]);
  expect(await sql(LOST), 'permits of no limiter').toEqual([]);
}
