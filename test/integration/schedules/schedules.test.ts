import { beforeEach, describe, expect, it } from 'vitest';
import type { ScheduleSpec } from '../../../src/core/schedule/schedule.ts';
import { jitterOf } from '../../../src/core/schedule/schedule-id.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { fireDue } from '../../../src/scheduler/fire-due.ts';
import { changeSchedule } from '../../../src/store/schedules/change-schedule.ts';
import { Db } from '../../../src/store/connection/db.ts';
import { lockDueSchedules, nextCheckMs } from '../../../src/store/schedules/due-schedules.ts';
import { deleteSchedule } from '../../../src/store/schedules/delete-schedule.ts';
import { getJob } from '../../../src/store/read/get-job.ts';
import { Enqueuer } from '../../../src/enqueue/enqueuer.ts';
import { pruneSlots } from '../../../src/store/schedules/slots.ts';
import { ScheduleNameTaken } from '../../../src/store/schedules/schedules.ts';
import { specOf } from '../../../src/store/schedules/schedule-row.ts';
import { triggerSchedule } from '../../../src/enqueue/trigger-schedule.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { Planner, rowsReadFrom } from '../../support/checks/plans.ts';
import { auditSlots } from '../../support/checks/slot-history.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { claimAny, newWorker, settleAs, SUCCESS } from '../../support/jobs.ts';
import {
  ALL_BUCKETS,
  fallBehind,
  newSchedule,
  readSchedule,
  slotsOf,
  tick,
} from '../../support/schedules.ts';

const HOUR_MS = 3_600_000;
const database = sharedDatabase();

beforeEach(async () => {
  await database.sql('truncate longshore.schedule, longshore.slot');
});

/** An hourly schedule that no scheduler has checked for a while, and one check of it. */
async function behind(hours: number, changes: Partial<ScheduleSpec> = {}): Promise<string> {
  const id = await newSchedule(database, { catchUp: 'all', ...changes });
  await fallBehind(database, id, hours * HOUR_MS, HOUR_MS);
  return id;
}

async function change(id: string, changes: Partial<ScheduleSpec>): Promise<void> {
  await changeSchedule(database.db, 'default', id, (row) => ({
    spec: { ...specOf(row), ...changes },
    note: null,
  }));
}

const statuses = async (id: string) => (await slotsOf(database, id)).map(({ status }) => status);

describe('a due slot', () => {
  it('fires once: a row, a job that names it, and the next slot', async () => {
    const params = { paramsJson: '{"to":"all"}', priority: 7 };
    const id = await behind(1, params);
    expect(await tick(database)).toBe(1);
    expect(await tick(database)).toBe(0);
    const [slot, ...more] = await slotsOf(database, id);
    expect(more).toEqual([]);
    expect(slot).toMatchObject({ status: 'fired', through: null, jobStatus: 'queued' });
    const job = await getJob(database.db, 'default', slot?.jobId ?? '');
    expect(job).toMatchObject({
      scheduleId: id,
      scheduledFor: slot?.slot,
      params: { to: 'all' },
      priority: 7,
      status: 'queued',
    });
    const schedule = await readSchedule(database, id);
    expect(Date.parse(schedule.nextAt ?? '') - Date.parse(slot?.slot ?? '')).toBe(HOUR_MS);
    expect(schedule.lastEnqueuedAt).not.toBeNull();
    expect(schedule.lastSlot).toEqual(slot);
  });

  it('waits for its jitter, as a job with a time', async () => {
    const jitterMs = 24 * HOUR_MS;
    const id = await newSchedule(database, { cron: '* * * * * *', catchUp: 'all', jitterMs });
    await fallBehind(database, id, 1_000, 1_000);
    await tick(database);
    const slots = await slotsOf(database, id);
    expect(slots.length).toBeGreaterThan(0);
    for (const { slot, jobId } of slots) {
      const slotMs = Date.parse(slot);
      const delayMs = jitterOf(id, slotMs, jitterMs);
      expect(await getJob(database.db, 'default', jobId ?? '')).toMatchObject({
        status: 'scheduled',
        scheduledFor: slot,
        runAt: new Date(slotMs + delayMs).toISOString(),
      });
    }
  });

  it('is not looked at before its time', async () => {
    const id = await newSchedule(database);
    expect(await tick(database)).toBe(0);
    expect(await slotsOf(database, id)).toEqual([]);
  });
});

describe('after an absence', () => {
  it.each([
    ['all', ['fired', 'fired', 'fired']],
    ['latest', ['fired', 'collapsed', 'collapsed']],
  ] as const)('catchUp %s', async (catchUp, expected) => {
    const id = await behind(3, { catchUp });
    await tick(database);
    expect(await statuses(id)).toEqual(expected);
  });

  it('years of seconds end in a bounded number of rows', async () => {
    const id = await newSchedule(database, { cron: '* * * * * *', catchUp: 'all', catchUpMax: 5 });
    await fallBehind(database, id, 3 * 366 * 24 * HOUR_MS, 1_000);
    await tick(database);
    const slots = await slotsOf(database, id);
    expect(slots).toHaveLength(1_001);
    expect(slots.filter(({ status }) => status === 'fired')).toHaveLength(6);
    const [oldest, second] = slots.toReversed();
    expect(oldest).toMatchObject({ status: 'skipped', jobId: null });
    const gapMs = Date.parse(second?.slot ?? '') - Date.parse(oldest?.through ?? '');
    expect(gapMs).toBe(1_000);
  });

  it('one that cannot run notes why and stops no other', async () => {
    const bad = await behind(1);
    const worse = await behind(1);
    const good = await behind(1);
    await database.sql(`update longshore.schedule set timezone = 'Mars/Base' where id = $1`, [bad]);
    // The database refuses this job only when it is stored, which fails the whole batch.
    await database.sql(
      `update longshore.schedule set definition_version = 1, priority = -2147483648
      where id = $1`,
      [worse],
    );
    await tick(database);
    expect(await statuses(good)).toEqual(['fired']);
    expect((await readSchedule(database, bad)).note).toMatch('unknown timezone "Mars/Base"');
    expect((await readSchedule(database, worse)).note).toMatch('could not run');
    expect(await tick(database)).toBe(0);
    // It is not forgotten: mended, it goes on where it was.
    await database.sql(
      `update longshore.schedule set timezone = 'UTC', check_at = next_at where id = $1`,
      [bad],
    );
    await tick(database);
    expect(await statuses(bad)).toEqual(['fired']);
    expect((await readSchedule(database, bad)).note).toBeNull();
  });
});

describe('overlap', () => {
  async function finishAll(): Promise<void> {
    const worker = await newWorker(database);
    for (const job of await claimAny(database, worker, 100)) {
      await settleAs(database, job, SUCCESS);
    }
  }

  const definitionKey = 'overlapping';

  it('skip: not while an earlier job waits or runs', async () => {
    const id = await behind(1, { overlap: 'skip', definitionKey });
    await tick(database);
    expect(await statuses(id)).toEqual(['fired']);
    await fallBehind(database, id, HOUR_MS, HOUR_MS);
    await database.sql('delete from longshore.slot');
    await tick(database);
    expect(await statuses(id)).toEqual(['skipped']);
    await finishAll();
    await database.sql('delete from longshore.slot');
    await fallBehind(database, id, HOUR_MS, HOUR_MS);
    await tick(database);
    expect(await statuses(id)).toEqual(['fired']);
  });

  it('queue-one: one waits for the earlier job, later ones join it', async () => {
    const everySecond = { cron: '* * * * * *', catchUp: 'latest' } as const;
    const id = await newSchedule(database, { ...everySecond, overlap: 'queue-one', definitionKey });
    await fallBehind(database, id, 1_000, 1_000);
    await tick(database);
    const [first] = await slotsOf(database, id);
    expect(first).toMatchObject({ status: 'fired' });
    const held = async () =>
      (
        await database.sql<{ held_at: Date | null }>(
          'select held_at from longshore.schedule where id = $1',
          [id],
        )
      )[0]?.held_at;
    const fired = async () => (await statuses(id)).filter((status) => status === 'fired').length;
    while (!(await held())) await tick(database);
    const heldAt = await held();
    while (!(await statuses(id)).includes('collapsed')) await tick(database);
    expect(await held()).toEqual(heldAt);
    expect(await fired()).toBe(1);
    await finishAll();
    while ((await fired()) < 2) await tick(database);
    const slots = await slotsOf(database, id);
    const queued = slots.find(({ reason, status }) => status === 'fired' && reason === 'overlap');
    expect(queued?.slot).toBe(heldAt?.toISOString());
  });
});

describe('a change', () => {
  it('never fires the past, and records what it skipped', async () => {
    const id = await behind(3);
    await change(id, { cron: '@daily' });
    expect(await tick(database)).toBe(0);
    const [gone, ...more] = await slotsOf(database, id);
    expect(more).toEqual([]);
    expect(gone).toMatchObject({ status: 'skipped', reason: 'changed' });
    expect(Date.parse(gone?.through ?? '') - Date.parse(gone?.slot ?? '')).toBe(2 * HOUR_MS);
    const { nextAt } = await readSchedule(database, id);
    expect(nextAt).toMatch(/T00:00:00\.000Z$/);
  });

  it('of anything but the timing leaves a due slot alone', async () => {
    const id = await behind(1);
    await change(id, { paramsJson: '{"n":2}', priority: 3, overlap: 'skip' });
    await tick(database);
    expect(await statuses(id)).toEqual(['fired']);
  });

  it('pausing gives up what is due; resuming goes on from now', async () => {
    const id = await behind(2);
    await change(id, { enabled: false });
    expect(await readSchedule(database, id)).toMatchObject({ enabled: false, nextAt: null });
    expect(await tick(database)).toBe(0);
    expect(await statuses(id)).toEqual(['skipped']);
    await change(id, { enabled: true });
    const { nextAt } = await readSchedule(database, id);
    expect(Date.parse(nextAt ?? '')).toBeGreaterThan(Date.now());
    expect(await tick(database)).toBe(0);
    expect(await statuses(id)).toEqual(['skipped']);
  });

  it('refuses a name that is taken, at birth and later', async () => {
    await newSchedule(database, { name: 'nightly' });
    await expect(newSchedule(database, { name: 'nightly' })).rejects.toThrow(ScheduleNameTaken);
    await newSchedule(database, { name: 'nightly', definitionKey: 'other' });
    const id = await newSchedule(database, { name: 'daily' });
    await expect(change(id, { name: 'nightly' })).rejects.toThrow(ScheduleNameTaken);
    expect((await readSchedule(database, id)).name).toBe('daily');
  });
});

it('a trigger makes a job now, also while paused, and moves no slot', async () => {
  const id = await newSchedule(database, { enabled: false, jitterMs: HOUR_MS });
  const { db, enqueuer } = database;
  const jobId = await triggerSchedule(db, enqueuer, 'default', id);
  expect(await getJob(db, 'default', jobId ?? '')).toMatchObject({
    scheduleId: id,
    status: 'queued',
  });
  const [slot] = await slotsOf(database, id);
  expect(slot).toMatchObject({ status: 'fired', reason: 'triggered', jobId });
  expect((await readSchedule(database, id)).nextAt).toBeNull();
  expect(await triggerSchedule(db, enqueuer, 'unknown', id)).toBeNull();
});

it('many triggers at once each make a job and a row', async () => {
  const id = await newSchedule(database, {});
  const { db, enqueuer } = database;
  const made = await Promise.all(
    Array.from({ length: 40 }, async () => await triggerSchedule(db, enqueuer, 'default', id)),
  );
  expect(new Set(made).size).toBe(40);
  const slots = await slotsOf(database, id);
  expect(new Set(slots.map(({ jobId }) => jobId))).toEqual(new Set(made));
});

it('one that is over can still be paused; a broken one can be mended', async () => {
  const id = await newSchedule(database, { endAt: new Date(Date.now() + 7_200_000) });
  await database.sql(
    `update longshore.schedule set end_at = now() - interval '1 s', next_at = null,
    next_local = null, check_at = null where id = $1`,
    [id],
  );
  await change(id, { enabled: false });
  expect(await readSchedule(database, id)).toMatchObject({ enabled: false, nextAt: null });
  await expect(change(id, { enabled: true })).rejects.toThrow('must leave room for a slot');
  const broken = await behind(2);
  await database.sql(`update longshore.schedule set timezone = 'Mars/Base' where id = $1`, [
    broken,
  ]);
  await change(broken, { timezone: 'UTC' });
  expect(await statuses(broken)).toEqual(['skipped']);
});

it('a look costs what is due, not what exists', async () => {
  await newSchedule(database, {});
  await database.sql(
    `insert into longshore.schedule
     select s.shard, gen_random_uuid(), n % 64, s.tenant, null, s.source, s.definition_key,
       s.definition_version, s.params, s.params_shape, s.priority, s.enabled, s.note, s.cron, s.timezone, s.start_at,
       s.end_at, s.jitter_ms, s.dst_gap, s.dst_repeat, s.catch_up, s.catch_up_window_ms,
       s.catch_up_max, s.overlap, s.created_at, s.updated_at, s.last_enqueued_at, s.next_at,
       s.next_local, null, null,
       case when n <= 10 then now() - interval '1 minute' else now() + n * interval '1 second' end
     from longshore.schedule s, generate_series(1, 20000) n`,
  );
  const planner = new Planner(database.url);
  await planner.open();
  try {
    const read = new Map<string, number>();
    const db = planner.measuring((name, nodes) =>
      read.set(name, rowsReadFrom(nodes, ['schedule'])),
    );
    await lockDueSchedules(db, 0, ALL_BUCKETS, 100);
    await nextCheckMs(db, 0, ALL_BUCKETS);
    // PostgreSQL tells an average per bucket, to two places.
    expect(read.get('lock_due_schedules')).toBeCloseTo(10, 0);
    expect(read.get('next_check')).toBe(64);
  } finally {
    await planner.close();
  }
});

it('deleting takes the slots along and leaves the jobs', async () => {
  const id = await behind(1);
  await tick(database);
  const [slot] = await slotsOf(database, id);
  expect(await deleteSchedule(database.db, 'unknown', id)).toBe(false);
  expect(await deleteSchedule(database.db, 'default', id)).toBe(true);
  expect(await slotsOf(database, id)).toEqual([]);
  expect(await deleteSchedule(database.db, 'default', id)).toBe(false);
  expect(await getJob(database.db, 'default', slot?.jobId ?? '')).not.toBeNull();
});

it('old slots go, the newest stay', async () => {
  const id = await newSchedule(database, { cron: '* * * * * *', catchUp: 'none' });
  await fallBehind(database, id, 700_000, 1_000);
  await tick(database);
  const before = await slotsOf(database, id);
  expect(before.length).toBeGreaterThan(690);
  const { removed, schedules } = await pruneSlots(database.db, 0, 100, 10);
  expect({ removed, schedules }).toEqual({ removed: before.length - 100, schedules: 1 });
  expect(await slotsOf(database, id)).toEqual(before.slice(0, 100));
  expect(await pruneSlots(database.db, 0, 100, 10)).toEqual({ removed: 0, schedules: 0 });
});

it('the audit behind the chaos sees what is lost and what is doubled', async () => {
  const { sql } = database;
  await sql('truncate longshore.job, longshore.waiting');
  const id = await behind(5);
  await tick(database);
  expect((await auditSlots(sql)).faults).toEqual([]);
  const [, second] = await slotsOf(database, id);
  await sql('delete from longshore.slot where slot_at = $1', [second?.slot]);
  const { faults } = await auditSlots(sql);
  expect(faults.map((fault) => fault.split(' ').slice(0, 2).join(' '))).toEqual([
    'lost slot',
    'extra job:',
  ]);
  await sql(`truncate longshore.slot, longshore.job, longshore.waiting`);
  const lost = (await auditSlots(sql)).faults;
  expect(lost).toEqual([]);
  await sql(`update longshore.schedule set created_at = created_at - interval '5 hours'`);
  expect((await auditSlots(sql)).faults).toHaveLength(5);
});

describe('many schedulers that all believe to own everything', () => {
  it('fire every slot once', async () => {
    const ids = await Promise.all(
      Array.from({ length: 30 }, async () => await behind(5, { catchUp: 'all' })),
    );
    const dbs = Array.from({ length: 4 }, () =>
      Db.open({ clock: systemClock, url: database.url, log: silentLog, max: 3 }),
    );
    const rivals = dbs.map((db) => ({
      db,
      enqueuer: new Enqueuer(db, database.waker, systemClock),
      log: silentLog,
    }));
    try {
      for (let round = 0; round < 20; round += 1) {
        // Small batches, so that they meet again and again.
        await Promise.all(
          rivals.map(async (rival) => {
            while ((await fireDue(rival, 0, ALL_BUCKETS, 3)) > 0);
          }),
        );
        if (round % 5 === 4) {
          for (const id of ids) await fallBehind(database, id, 5 * HOUR_MS, HOUR_MS);
        }
      }
    } finally {
      await Promise.all(dbs.map(async (db) => await db.close()));
    }
    for (const id of ids) {
      const slots = await slotsOf(database, id);
      expect(new Set(slots.map(({ slot }) => slot)).size).toBe(slots.length);
      expect(slots.every(({ status }) => status === 'fired')).toBe(true);
      const jobs = await database.sql<{ id: string; scheduled_for: Date }>(
        'select id, scheduled_for from longshore.job where schedule_id = $1',
        [id],
      );
      expect(jobs.map((job) => job.scheduled_for.toISOString()).sort()).toEqual(
        slots.map(({ slot }) => slot).sort(),
      );
    }
  });
});
