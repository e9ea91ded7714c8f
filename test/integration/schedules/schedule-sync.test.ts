import { beforeEach, expect, it } from 'vitest';
import { localQueue } from '../../../src/app/local-queue.ts';
import { defineJob } from '../../../src/core/definition/define.ts';
import { Db } from '../../../src/store/connection/db.ts';
import { directQueue } from '../../../src/worker/claim/direct-queue.ts';
import { workerOn } from '../../support/servers/worker.ts';
import type { ScheduleInput } from '../../../src/core/definition/declared-schedule.ts';
import { definitionInfo } from '../../../src/core/definition/check-definition.ts';
import type { ScheduleView } from '../../../src/core/schedule/schedule.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLog } from '../../../src/runtime/log.ts';
import { syncSchedules } from '../../../src/scheduler/sync-schedules.ts';
import { changeSchedule } from '../../../src/store/schedules/change-schedule.ts';
import { JobIds } from '../../../src/store/connection/job-ids.ts';
import { specOf } from '../../../src/store/schedules/schedule-row.ts';
import { listSchedules } from '../../../src/store/schedules/schedules.ts';
import { sharedDatabase } from '../../support/servers/database.ts';
import { fallBehind, HOURLY, newSchedule, slotsOf, tick } from '../../support/schedules.ts';

const database = sharedDatabase({ shards: 2 });

beforeEach(async () => {
  await database.sql('truncate longshore.schedule, longshore.slot');
});

/** What a worker does at its start with this in its code. */
async function start(schedule: ScheduleInput | undefined, key = 'report', version = 1) {
  const ids = new JobIds(systemClock);
  const info = definitionInfo({ key, version, schedule }, { paramsSchema: null });
  await syncSchedules({ db: database.db, ids, log: silentLog }, [info]);
}

async function all(): Promise<ScheduleView[]> {
  const filter = { tenant: 'default', definitionKey: null, name: null, enabled: null };
  return (await listSchedules(database.db, { ...filter, afterId: null, limit: 100 })).schedules;
}

async function pause(id: string, enabled = false): Promise<void> {
  await changeSchedule(database.db, 'default', id, (row) => ({
    spec: { ...specOf(row), enabled },
    note: null,
  }));
}

const NIGHTLY = { name: 'nightly', cron: '30 2 * * *' } as const;

it('makes each schedule once, however many workers start', async () => {
  await Promise.all(Array.from({ length: 8 }, async () => await start([NIGHTLY])));
  await start([NIGHTLY]);
  const [made, ...more] = await all();
  expect(more).toEqual([]);
  expect(made).toMatchObject({ ...NIGHTLY, source: 'code', definitionVersion: 1, enabled: true });
});

it('leaves alone what did not change, and a slot that is due', async () => {
  await start(HOURLY);
  const [before] = await all();
  await fallBehind(database, before?.id ?? '', 3_600_000, 3_600_000);
  const [behind] = await all();
  await start(HOURLY);
  expect(await all()).toEqual([behind]);
  await tick(database);
  expect(await slotsOf(database, before?.id ?? '')).toMatchObject([{ status: 'fired' }]);
});

it('takes over what the code changes, and keeps a pause', async () => {
  await start([NIGHTLY]);
  const [before] = await all();
  await pause(before?.id ?? '');
  await start([{ ...NIGHTLY, cron: '45 2 * * *', overlap: 'skip' }], 'report', 2);
  const [after] = await all();
  expect(after).toMatchObject({
    id: before?.id,
    cron: '45 2 * * *',
    overlap: 'skip',
    definitionVersion: 2,
    enabled: false,
    nextAt: null,
  });
});

it('does not let an older version undo the schedules of a newer one', async () => {
  await start([NIGHTLY], 'report', 2);
  await start([{ ...NIGHTLY, cron: '@hourly' }], 'report', 1);
  await start(undefined, 'report', 1);
  expect(await all()).toMatchObject([{ ...NIGHTLY, enabled: true, definitionVersion: 2 }]);
});

it('pauses what the code no longer has, and resumes it when it is back', async () => {
  await start([NIGHTLY, { name: 'other', cron: '@daily' }]);
  await start([{ name: 'other', cron: '@daily' }]);
  const find = async () => (await all()).find(({ name }) => name === 'nightly');
  expect(await find()).toMatchObject({ enabled: false, note: 'removed from code', nextAt: null });
  await start([NIGHTLY]);
  expect(await find()).toMatchObject({ enabled: true, note: null });
});

it('does not resume what a person had paused before it was removed', async () => {
  await start([NIGHTLY]);
  const [{ id } = { id: '' }] = await all();
  await pause(id);
  await start(undefined);
  expect(await all()).toMatchObject([{ enabled: false, note: expect.stringMatching('removed') }]);
  await start([NIGHTLY]);
  expect(await all()).toMatchObject([{ enabled: false, note: null }]);
});

it('leaves out what cannot work, and what a person made under that name', async () => {
  await newSchedule(database, { name: 'mine', definitionKey: 'report', cron: '@hourly' });
  await start([
    { name: 'bad', cron: '0 0 31 4 *' },
    { name: 'mine', cron: '@daily' },
    { name: 'good', cron: '@daily' },
  ]);
  const schedules = await all();
  expect(schedules.map(({ name, source }) => `${name} by ${source}`).sort()).toEqual([
    'good by code',
    'mine by api',
  ]);
  expect(schedules.find(({ name }) => name === 'mine')?.cron).toBe('@hourly');
});

it('is a problem of the worker if a schedule is invalid, and the others run', async () => {
  const jobs = [
    defineJob({ key: 'broken', schedule: '61 * * * *', isolation: 'inline', run: () => 1 }),
    defineJob({ key: 'report', schedule: NIGHTLY, isolation: 'inline', run: () => 1 }),
  ];
  const { db, waker, url } = database;
  const reserved = Db.open({ clock: systemClock, url, log: silentLog, max: 1 });
  const queue = directQueue(localQueue(db, reserved, waker, {}, silentLog));
  const { worker, stop } = workerOn(database, { jobs, queue });
  await worker.start();
  expect(worker.report.problems).toEqual([expect.stringMatching(/^broken, schedule "\w+": cron /)]);
  expect(await all()).toMatchObject([{ definitionKey: 'report', name: 'nightly' }]);
  await stop();
  await reserved.close();
});
