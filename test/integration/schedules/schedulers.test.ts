import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { BUCKETS } from '../../../src/core/schedule/schedule-id.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { promoter } from '../../../src/scheduler/promoter.ts';
import { SchedulerMembership } from '../../../src/scheduler/scheduler-membership.ts';
import { ticker } from '../../../src/scheduler/ticker.ts';
import type { DueHint } from '../../../src/store/connection/due-hint.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { Listener } from '../../../src/store/connection/listen.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { promote } from '../../../src/store/claim/promote.ts';
import { enqueueOne, request } from '../../support/jobs.ts';
import { newSchedule, slotsOf } from '../../support/schedules.ts';
import { until } from '../../support/until.ts';

const database = sharedDatabase();
const memberships: SchedulerMembership[] = [];

afterEach(async () => {
  for (const membership of memberships.splice(0)) await membership.stop();
  await database.sql('truncate longshore.scheduler, longshore.schedule, longshore.slot');
});

async function join(leaseMs = 2_000): Promise<SchedulerMembership> {
  const { db } = database;
  const membership = new SchedulerMembership({
    db,
    instance: randomUUID(),
    host: 'test',
    pid: 1,
    version: '0',
    leaseMs,
    heartbeatMs: 50,
    log: silentLog,
  });
  memberships.push(membership);
  await membership.start();
  return membership;
}

/** Every bucket has one owner, and everybody has some. */
function divided(among: readonly SchedulerMembership[]): boolean {
  const owners = Array.from({ length: BUCKETS }, (_, bucket) =>
    among.filter((membership) => membership.owns(bucket)),
  );
  return owners.every(({ length }) => length === 1) && new Set(owners.flat()).size === among.length;
}

describe('a membership of schedulers', () => {
  it('divides the buckets among all that are alive', async () => {
    const alone = await join();
    await until('it knows its place', () => divided([alone]));
    const three = [alone, await join(), await join()];
    await until('three share', () => divided(three));
    for (const membership of three) expect(membership.buckets.length).toBeGreaterThan(20);
    await three[1]?.stop();
    await until('two share', () => divided([alone, three[2] as SchedulerMembership]));
  });

  it('gives the buckets of a killed scheduler to the others when its lease expires', async () => {
    const survivor = await join();
    const { db, sql } = database;
    // As a killed process leaves it: a row that is not renewed.
    await sql(
      `insert into longshore.scheduler values (gen_random_uuid(), 'gone', 1, '0',
        clock_timestamp() - interval '1 hour', clock_timestamp(),
        clock_timestamp() + interval '1 second')`,
    );
    await until('it counts as alive', () => survivor.buckets.length === BUCKETS / 2);
    await until('it counts as dead', () => survivor.buckets.length === BUCKETS);
    expect(db.shards).toBe(1);
  });

  it('sends a hint when a scheduler joins or leaves', async () => {
    const hints: DueHint[] = [];
    let connected = false;
    const listener = new Listener({ url: database.url, log: silentLog });
    listener.add({
      onDue: (hint) => hints.push(hint),
      onConnected: () => (connected = true),
    });
    await listener.start();
    await until('it listens', () => connected);
    const membership = await join();
    await until('it came', () => hints.length === 1);
    await membership.stop();
    await until('it went', () => hints.length === 2);
    expect(hints).toEqual([
      { kind: 'schedulers', inMs: 0 },
      { kind: 'schedulers', inMs: 0 },
    ]);
    await listener.stop();
  });
});

it('very many jobs due at once keep no other queue waiting, and go by their time', async () => {
  const { db, enqueuer, sql } = database;
  const flood = Array.from({ length: 60 }, () =>
    request({ definitionKey: 'flood', delayMs: 3_600_000 }),
  );
  const made = await enqueuer.start(flood);
  const late = await enqueueOne(database, { definitionKey: 'other', delayMs: 3_600_000 });
  // The flood has been due for a while, the last made first; the other one only just now.
  for (const [index, { jobId }] of made.entries()) {
    await sql(
      `update longshore.waiting set run_at = now() - $2 * interval '1 second'
      where id = $1`,
      [jobId, 100 + index],
    );
  }
  await sql(`update longshore.waiting set run_at = now() where id = $1`, [late]);
  expect(await promote(db, 0, 20)).toMatchObject({ promoted: 16, more: true });
  expect((await getJob(db, 'default', late))?.status).toBe('queued');
  while ((await promote(db, 0, 20)).more);
  const queued = await sql<{ id: string }>(
    `select id from longshore.waiting where state = 'queued' and id <> $1 order by seq`,
    [late],
  );
  expect(queued.map(({ id }) => id)).toEqual(made.map(({ jobId }) => jobId).reverse());
});

describe('what is due sooner than the next look', () => {
  it('is announced, and found by a promoter that sleeps', async () => {
    const { db, waker, url } = database;
    const promoting = promoter(db, waker, 60_000, silentLog);
    const hints: DueHint[] = [];
    let connected = false;
    const listener = new Listener({ url, log: silentLog });
    listener.add({
      onDue: (hint) => {
        hints.push(hint);
        promoting.hint(hint.inMs);
      },
      onConnected: () => (connected = true),
    });
    await listener.start();
    await promoting.start();
    await until('it listens', () => connected);
    const soon = await enqueueOne(database, { delayMs: 300 });
    const later = await enqueueOne(database, { delayMs: 3_600_000 });
    await until('it is due', async () => (await getJob(db, 'default', soon))?.status === 'queued');
    expect((await getJob(db, 'default', later))?.status).toBe('scheduled');
    expect(hints).toEqual([{ kind: 'jobs', inMs: 300, shard: 0 }]);
    await promoting.stop();
    await listener.stop();
  });

  it('fires on time, slot after slot', async () => {
    const { db, enqueuer } = database;
    const id = await newSchedule(database, { cron: '* * * * * *', catchUp: 'all' });
    const all = { buckets: Array.from({ length: BUCKETS }, (_, bucket) => bucket) };
    const ticking = ticker({ db, enqueuer, log: silentLog }, all, 60_000, systemClock);
    await ticking.start();
    await until('three fired', async () => (await slotsOf(database, id)).length >= 3);
    await ticking.stop();
    const slots = await slotsOf(database, id);
    expect(new Set(slots.map(({ status }) => status))).toEqual(new Set(['fired']));
  });
});
