import type { HeldBackJobs, TenantView } from '../../core/views/key-view.ts';
import { TOTAL_KEY } from '../../core/series/series-plan.ts';
import type { LimitsChange } from '../../core/queue/limits.ts';
import { type Actor, audit } from './audit.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import { changeLimits, readLimits } from '../limits/limits.ts';
import { listPauses, pauseView } from '../limits/pauses.ts';
import { notifyWorkers } from '../limits/sync-limits.ts';

interface TenantRow {
  name: string;
  created_at: Date;
  weight: number;
}

const INSERT = statement<TenantRow>(
  'insert_tenant',
  `insert into longshore.tenant (name) values ($1) on conflict do nothing
   returning name, created_at, weight`,
);

/** Null when the name is taken. */
export async function createTenant(db: Db, by: Actor, name: string): Promise<TenantView | null> {
  const made = await db.transaction(async (tx) => {
    const rows = await tx.run(INSERT, [name]);
    if (rows.length > 0) {
      await audit(tx, by, { tenant: name, action: 'tenant.create', subject: name });
    }
    return rows;
  });
  return (await viewsOf(db, made))[0] ?? null;
}

const LIST = statement<TenantRow>(
  'list_tenants',
  'select name, created_at, weight from longshore.tenant order by name',
);

export async function listTenants(db: Db): Promise<TenantView[]> {
  return await viewsOf(db, await db.run(LIST));
}

export async function tenantNames(db: Queryable): Promise<string[]> {
  return (await db.run(LIST)).map(({ name }) => name);
}

const EXISTS = statement<{ name: string }>(
  'tenant_exists',
  'select name from longshore.tenant where name = $1',
);

export async function tenantExists(db: Queryable, name: string): Promise<boolean> {
  return (await db.run(EXISTS, [name])).length > 0;
}

const FIND = statement<TenantRow>(
  'find_tenant',
  'select name, created_at, weight from longshore.tenant where name = $1',
);

const WEIGH = statement<{ before: number }>(
  'weigh_tenant',
  `with old as materialized (
    select name, weight from longshore.tenant where name = $1 for update
  )
  update longshore.tenant t set weight = $2 from old
  where t.name = $1 and old.name = t.name and t.weight <> $2
  returning old.weight as before`,
);

/**
 * Changes weight and limit of a tenant; null when there is no such tenant. Only the limit can be
 * refused, so it goes first.
 */
export async function changeTenant(
  db: Db,
  name: string,
  { weight, ...limits }: Pick<LimitsChange, 'concurrencyLimit'> & { weight?: number | undefined },
  by: Actor,
): Promise<TenantView | null> {
  if (!(await tenantExists(db, name))) return null;
  if (limits.concurrencyLimit !== undefined) await changeLimits(db, 'tenant', name, limits, by);
  if (weight !== undefined) await weigh(db, name, weight, by);
  return await findTenant(db, name);
}

async function weigh(db: Db, name: string, weight: number, by: Actor): Promise<void> {
  const changed = await db.transaction(async (tx) => {
    const [row] = await tx.run(WEIGH, [name, weight]);
    if (!row) return false;
    const entry = { tenant: name, action: 'tenant.weight', subject: name };
    await audit(tx, by, { ...entry, before: { weight: row.before }, after: { weight } });
    return true;
  });
  if (changed) await notifyWorkers(db);
}

/** Few alerts fire at a time, and an index has only those. */
const FIRING = statement<{ tenant: string; n: number }>(
  'firing_alerts_of_tenants',
  `select a.tenant, count(*)::int as n from longshore.alert a
   where a.resolved_at is null and a.tenant = any ($1::text[]) group by a.tenant`,
);

/** Of the last day, in slots of an hour: 25 rows per tenant. */
const FAILED_LATELY = statement<{ tenant: string; n: number }>(
  'failed_lately_of_tenants',
  `select s.tenant, sum(s.failed)::bigint as n from longshore.counter_series s
   where s.shard = $1 and s.tenant = any ($2::text[]) and s.key = '${TOTAL_KEY}' and s.minutes = 60
     and s.slot > clock_timestamp() - interval '25 hours'
   group by s.tenant having sum(s.failed) > 0`,
);

/** Jobs that are failed now: the cost depends on the number of queues of these tenants. */
const FAILED_NOW = statement<{ tenant: string; n: number }>(
  'failed_now_of_tenants',
  `select l.tenant, coalesce(sum(v.n), 0)::bigint as n
   from longshore.queue l join longshore.counter t on t.shard = $1 and t.queue = l.queue
   cross join lateral (values (t.state, t.n), (t.was, -t.n)) as v(state, n)
   where l.shard = $1 and l.tenant = any ($2::text[]) and left(l.key, 1) <> '$'
     and v.state = 'failed'
   group by l.tenant`,
);

/** How many jobs of these tenants failed lately, and still are. */
async function failedJobs(db: Db, tenants: readonly string[]): Promise<Map<string, number>> {
  const lately = await sumOf(db, FAILED_LATELY, tenants);
  const now = lately.size === 0 ? lately : await sumOf(db, FAILED_NOW, [...lately.keys()]);
  return new Map([...lately].map(([name, n]) => [name, Math.min(n, now.get(name) ?? 0)]));
}

async function sumOf(
  db: Db,
  counts: typeof FAILED_NOW,
  tenants: readonly string[],
): Promise<Map<string, number>> {
  const sums = new Map<string, number>();
  for (let shard = 0; shard < db.shards; shard += 1) {
    for (const { tenant, n } of await db.run(counts, [shard, tenants])) {
      sums.set(tenant, (sums.get(tenant) ?? 0) + n);
    }
  }
  return sums;
}

/** Jobs counted per queue. */
const HELD_BACK_MAX = 1_000;

/** The first jobs of each queue are read, so the cost depends on the number of queues. */
const HELD_BACK = statement<HeldBack & { tenant: string }>(
  'held_back_tenants',
  `select l.tenant, max(extract(epoch from clock_timestamp() - o.queued_at) * 1000)::float8 as ms,
     sum(c.count)::int as count, bool_and(c.count < ${HELD_BACK_MAX}) as "isExact"
   from longshore.queue l
   cross join lateral (
     select w.queued_at from longshore.waiting w
     where w.shard = $1 and w.queue = l.queue and w.seq is not null
     order by w.rank, w.seq limit 1
   ) o
   cross join lateral (
     select count(*) as count from (
       select w.rank from longshore.waiting w
       where w.shard = $1 and w.queue = l.queue and w.seq is not null
       order by w.rank, w.seq limit ${HELD_BACK_MAX}
     ) w
   ) c
   where l.shard = $1 and l.tenant = any ($2::text[]) and left(l.key, 1) <> '$'
   group by l.tenant`,
);

interface HeldBack extends HeldBackJobs {
  ms: number;
}

/** How long jobs of these tenants wait, and how many. */
async function heldBack(db: Db, tenants: readonly string[]): Promise<Map<string, HeldBack>> {
  const found = new Map<string, HeldBack>();
  if (tenants.length === 0) return found;
  for (let shard = 0; shard < db.shards; shard += 1) {
    for (const { tenant, ms, count, isExact } of await db.run(HELD_BACK, [shard, tenants])) {
      const before = found.get(tenant) ?? { ms: 0, count: 0, isExact: true };
      found.set(tenant, {
        ms: Math.max(ms, before.ms),
        count: count + before.count,
        isExact: isExact && before.isExact,
      });
    }
  }
  return found;
}

/** One tenant as it sees itself. */
export async function findTenant(db: Db, name: string): Promise<TenantView | null> {
  return (await viewsOf(db, await db.run(FIND, [name])))[0] ?? null;
}

async function viewsOf(db: Db, rows: readonly TenantRow[]): Promise<TenantView[]> {
  if (rows.length === 0) return [];
  const names = rows.map(({ name }) => name);
  const limits = new Map((await readLimits(db, 'tenant', names)).map((view) => [view.name, view]));
  const alerts = new Map((await db.run(FIRING, [names])).map(({ tenant, n }) => [tenant, n]));
  const failed = await failedJobs(db, names);
  const pauses = (await listPauses(db)).filter(({ scope }) => scope === 'tenant');
  const isFull = (name: string) => {
    const view = limits.get(name);
    return view !== undefined && view.inUse >= (view.effective.concurrencyLimit ?? Infinity);
  };
  const isPaused = (name: string) => pauses.some((one) => one.name === name);
  const waits = await heldBack(
    db,
    names.filter((name) => isFull(name) || isPaused(name)),
  );
  return rows.map(({ name, created_at: createdAt, weight }) => {
    const pause = pauses.find((one) => one.name === name);
    const view = limits.get(name);
    const waiting = waits.get(name);
    return {
      tenant: name,
      createdAt: createdAt.toISOString(),
      weight,
      concurrencyLimit: view?.effective.concurrencyLimit ?? null,
      inUse: view?.inUse ?? 0,
      paused: pause ? pauseView(pause, true) : null,
      firingAlerts: alerts.get(name) ?? 0,
      failedJobs: Math.max(0, failed.get(name) ?? 0),
      heldBackMs: waiting?.ms ?? null,
      heldBackJobs: waiting ? { count: waiting.count, isExact: waiting.isExact } : null,
    };
  });
}
