import { expect } from 'vitest';
import type { ClaimedJob } from '../../src/store/claim/claim.ts';
import { findLines } from '../../src/store/claim/find-levels.ts';
import { claimGated, type GatedClaim } from '../../src/store/claim/limited-claim.ts';
import { publishDefinitions } from '../../src/store/enqueue/definitions.ts';
import { syncLimits } from '../../src/store/limits/sync-limits.ts';
import { defineJob } from '../../src/core/definition/define.ts';
import type { LimitsInput } from '../../src/core/queue/limits.ts';
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

/** Claims from every line there is, as a worker does that serves all of them. */
export async function claimLimited(
  { db, sql }: TestDatabase,
  worker: string,
  limit: number,
): Promise<GatedClaim> {
  const lanes = await sql<{ lane: number }>('select lane from longshore.lane where shard = 0');
  const lines = await findLines(
    db,
    0,
    lanes.map((row) => row.lane),
  );
  lines.sort((a, b) => a.rank - b.rank || a.lane - b.lane);
  const from = lines.map((line) => ({ ...line, floor: 0 }));
  return await claimGated(db, 0, limit, worker, from);
}

export async function take(
  database: TestDatabase,
  worker: string,
  limit: number,
): Promise<ClaimedJob[]> {
  return (await claimLimited(database, worker, limit)).jobs;
}

/** Nothing waits or runs, and nothing is limited. Lanes stay, since processes remember them. */
export async function clearFlow({ sql }: TestDatabase): Promise<void> {
  await sql(`truncate longshore.job, longshore.waiting, longshore.running, longshore.done,
    longshore.attempt, longshore.worker, longshore.definition, longshore.gate,
    longshore.limit_override, longshore.pause`);
  await sql(
    `update longshore.lane set dgate = null, tgate = null, keyed = false, paused_at = null`,
  );
}

/** What the gates say, against what the jobs say: the two must never differ. */
const RECOUNT = `
  select coalesce(g.name, g.gate::text) as gate, g.in_use, g.parked,
    (select count(*)::int from longshore.running r where g.gate = any (r.tokens))
      + (select count(*)::int from longshore.waiting w where w.kgate = g.gate and w.key_token)
      as tokens,
    (select count(*)::int from longshore.waiting w
     where w.kgate = g.gate and w.parked is not null) as waiting
  from longshore.gate g`;

const LOST = `
  select t.gate from longshore.running r cross join lateral unnest(r.tokens) as t(gate)
  where not exists (select 1 from longshore.gate g where g.gate = t.gate)
  union all
  select w.kgate from longshore.waiting w
  where (w.key_token or w.parked is not null)
    and not exists (select 1 from longshore.gate g where g.gate = w.kgate)`;

export async function expectNoDrift({ sql }: TestDatabase): Promise<void> {
  const gates = await sql<Record<'in_use' | 'tokens' | 'parked' | 'waiting', number>>(RECOUNT);
  const wrong = gates.filter((gate) => gate.in_use !== gate.tokens || gate.parked !== gate.waiting);
  expect(wrong, 'gates that count wrongly').toEqual([]);
  expect(await sql(LOST), 'tokens of no gate').toEqual([]);
}
