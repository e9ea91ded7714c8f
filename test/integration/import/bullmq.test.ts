import { type Job, Queue, Worker } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importTarget, jobsHere, killedImport, longshoreImport } from '../../support/import.ts';
import { hasRedis, startRedis, type TestRedis } from '../../support/servers/redis.ts';
import { until } from '../../support/until.ts';

/** The import from a real BullMQ in a real Redis. */

const LATER_MS = Date.parse('2035-01-31T08:00:00Z');

describe.skipIf(!hasRedis)('import from BullMQ (needs redis-server)', () => {
  const target = importTarget();
  const queues: Queue[] = [];
  let redis: TestRedis;

  const imports = async (...args: string[]) =>
    await longshoreImport(target.server.address, redis.url, ['bullmq', ...args]);
  const queueOf = (name: string) => {
    const queue = new Queue(name, { connection: { url: redis.url } });
    queue.on('error', () => undefined);
    queues.push(queue);
    return queue;
  };

  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(async () => {
    for (const queue of queues) await queue.close();
    await redis.server.remove();
  });

  it('imports waiting, prioritised, delayed and retrying jobs, once, and leaves what runs', async () => {
    const queue = queueOf('mail');
    const backoff = { type: 'exponential', delay: 60_000 };
    await queue.add('welcome', { to: 'fails' }, { attempts: 5, backoff });
    await queue.add('welcome', { to: 'runs' });
    const gate = Promise.withResolvers<void>();
    const work = async ({ data }: Job<{ to: string }>) => {
      if (data.to === 'fails') throw new Error('no');
      await gate.promise;
    };
    const worker = new Worker('mail', work, { connection: { url: redis.url }, concurrency: 2 });
    await until('one job fails and one runs', async () => {
      const { active, delayed } = await queue.getJobCounts();
      return active === 1 && delayed === 1;
    });
    const busy = await imports('--queue', 'mail');
    expect(busy.stderr).toContain('workers take jobs of the queue');

    await queue.pause();
    await queue.add('welcome', { to: 'ada' });
    await queue.add('welcome', { to: 'bob' });
    await queue.add('digest', { to: 'prioritised' }, { priority: 7 });
    await queue.add('digest', { to: 'later' }, { delay: LATER_MS - Date.now(), attempts: 2 });
    const dry = await imports('--queue', 'mail', '--map', 'digest=mail.digest', '--dry-run');
    const counted = [
      { definitionKey: 'welcome', waiting: 2, delayed: 0, retrying: 1 },
      { definitionKey: 'mail.digest', waiting: 1, delayed: 1, retrying: 0 },
    ];
    expect(dry.report?.jobs).toMatchObject(counted);
    expect(dry.report?.left).toMatchObject([{ reason: 'runs there now', count: 1 }]);

    const first = await imports('--queue', 'mail', '--map', 'digest=mail.digest');
    expect([first.code, first.stderr]).toEqual([0, '']);
    expect(first.report?.jobs).toMatchObject(counted);
    const second = await imports('--queue', 'mail', '--map', 'digest=mail.digest');
    expect(second.report?.jobs.map(({ before }) => before)).toEqual([3, 2]);

    const welcome = (await jobsHere(target.client, 'welcome')).reverse();
    expect(welcome.map(({ params }) => params)).toEqual([
      { to: 'ada' },
      { to: 'bob' },
      { to: 'fails' },
    ]);
    expect(welcome[2]).toMatchObject({ status: 'scheduled', maxAttempts: 4 });
    const dueMs = Date.parse(welcome[2]?.runAt ?? '') - Date.parse(welcome[2]?.createdAt ?? '');
    expect(dueMs).toBeGreaterThan(0);
    expect(dueMs).toBeLessThanOrEqual(60_000);
    const [later, prioritised] = await jobsHere(target.client, 'mail.digest');
    expect(prioritised).toMatchObject({ status: 'queued', priority: -7, maxAttempts: 1 });
    expect(later).toMatchObject({ status: 'scheduled', maxAttempts: 2 });
    expect(Math.abs(Date.parse(later?.runAt ?? '') - LATER_MS)).toBeLessThan(60_000);

    const gone = await imports('--queue', 'mail', '--map', 'digest=mail.digest', '--remove');
    expect(gone.report?.removed.jobs).toBe(5);
    expect(await jobsHere(target.client, 'welcome')).toHaveLength(3);
    expect(await queue.getJobCounts('wait', 'delayed', 'prioritized', 'active')).toMatchObject({
      wait: 0,
      delayed: 0,
      prioritized: 0,
      active: 1,
    });
    gate.resolve();
    await worker.close();
  });

  it('imports schedulers, keeps deduplication, and names what it cannot import', async () => {
    const queue = queueOf('night');
    const berlin = { pattern: '30 2 * * *', tz: 'Europe/Berlin' };
    await queue.upsertJobScheduler('nightly', berlin, { name: 'night.run', data: { full: true } });
    await queue.upsertJobScheduler('often', { every: 300_000 }, { name: 'night.run' });
    await queue.upsertJobScheduler('odd', { every: 7_777 }, { name: 'night.run' });
    await queue.add('sync', { account: 7 }, { deduplication: { id: 'account-7' } });
    const { report } = await imports('--queue', 'night', '--remove');
    expect(report?.schedules.map(({ name, cron }) => [name, cron])).toEqual(
      expect.arrayContaining([
        ['bullmq:night:nightly', '30 2 * * *'],
        ['bullmq:night:often', '*/5 * * * *'],
      ]),
    );
    const reasons = report?.left.map(({ reason }) => reason) ?? [];
    expect(reasons).toContain('a schedule every 7777 ms, which is no cron expression');
    const { schedules } = await target.client.schedules.list({ name: 'bullmq:night:nightly' });
    expect(schedules).toMatchObject([{ timezone: 'Europe/Berlin', params: { full: true } }]);
    expect((await queue.getJobSchedulers()).map(({ key }) => key)).toEqual(['odd']);
    const [sync] = await jobsHere(target.client, 'sync');
    const unique = { key: 'account-7', while: 'active' } as const;
    const again = await target.client.enqueue('sync', { account: 7 }, { unique });
    expect(again.id).toBe(sync?.jobId);
  });

  it('loses and doubles nothing when it is killed between storing and removing', async () => {
    const queue = queueOf('bulk');
    const jobs = Array.from({ length: 500 }, (_none, number) => ({
      name: 'bulk',
      data: { number },
    }));
    await queue.addBulk(jobs);
    const args = ['bullmq', '--queue', 'bulk', '--remove'];
    const killed = await killedImport(target.server.address, redis.url, args);
    expect(killed).toEqual({ signal: 'SIGKILL', stored: 1 });
    expect(await queue.getWaitingCount()).toBe(500);
    const { report } = await imports('--queue', 'bulk', '--remove');
    expect(report).toMatchObject({ removed: { jobs: 500 }, jobs: [{ waiting: 500, before: 200 }] });
    expect(await queue.getWaitingCount()).toBe(0);
    const here = (await jobsHere(target.client, 'bulk')).reverse();
    expect(here.map(({ params }) => params)).toEqual(jobs.map(({ data }) => data));
  });

  it('refuses a queue and a Redis that are not there', async () => {
    const queue = await imports('--queue', 'mial');
    expect([queue.code, queue.stderr]).toEqual([2, expect.stringContaining('there is no queue')]);
    const down = await longshoreImport(target.server.address, 'redis://127.0.0.1:1', [
      'bullmq',
      '--queue',
      'mail',
    ]);
    expect(down.code).toBe(6);
  });
});
