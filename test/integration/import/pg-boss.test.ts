import { PgBoss } from 'pg-boss';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../support/until.ts';
import { importTarget, jobsHere, killedImport, longshoreImport } from '../../support/import.ts';

/** The import from a real pg-boss, whose tables are in the database of the test. */

const target = importTarget();
const { database } = target;
const LATER = '2035-01-31T08:00:00.000Z';
let boss: PgBoss;

const imports = async (...args: string[]) =>
  await longshoreImport(target.server.address, database.url, ['pg-boss', ...args]);
const waiting = async (queue: string) =>
  await database.sql<{ id: string; state: string }>(
    'select id, state::text from pgboss.job where name = $1 order by created_on',
    [queue],
  );

beforeAll(async () => {
  boss = new PgBoss({ connectionString: database.url, supervise: false, schedule: false });
  boss.on('error', () => undefined);
  await boss.start();
});
afterAll(async () => await boss.stop({ graceful: false }));

it('imports waiting, delayed and retrying jobs with priority, attempts and backoff, once', async () => {
  await boss.createQueue('mail', { retryLimit: 4, retryDelay: 10, retryBackoff: true });
  await boss.send('mail', { to: 'runs' }, { priority: 9 });
  const [running] = await boss.fetch('mail');
  await boss.send('mail', { to: 'fails' }, { priority: 8 });
  const [failing] = await boss.fetch('mail');
  await boss.fail('mail', failing?.id ?? '');
  await boss.send('mail', { to: 'ada' }, { priority: 3, expireInSeconds: 60 });
  await boss.send('mail', { to: 'later' }, { startAfter: LATER });
  await boss.send('mail', null);
  const flow = [
    { ref: 'child', name: 'mail', options: { startAfter: LATER } },
    { ref: 'parent', name: 'mail', dependsOn: ['child'] },
  ];
  const { parent } = await boss.flow(flow);

  const dry = await imports('--queue', 'mail', '--map', 'mail=mail.send', '--dry-run');
  const counted = {
    queue: 'mail',
    definitionKey: 'mail.send',
    waiting: 2,
    delayed: 2,
    retrying: 1,
  };
  expect(dry.report).toMatchObject({ dryRun: true, jobs: [{ ...counted, before: 0 }] });
  expect(dry.report?.left).toEqual([
    { queue: 'mail', reason: 'runs there now', count: 1, examples: [running?.id] },
    { queue: 'mail', reason: 'waits for other jobs there', count: 1, examples: [parent] },
  ]);
  expect(await jobsHere(target.client, 'mail.send')).toEqual([]);

  const first = await imports('--queue', 'mail', '--map', 'mail=mail.send');
  expect([first.code, first.stderr]).toEqual([0, '']);
  expect(first.report).toMatchObject({ jobs: [{ ...counted, before: 0 }], removed: { jobs: 0 } });
  // A copy: nothing has changed there.
  expect(await waiting('mail')).toHaveLength(7);
  const second = await imports('--queue', 'mail', '--map', 'mail=mail.send');
  expect(second.report?.jobs).toEqual([{ ...counted, before: 5 }]);

  const jobs = (await jobsHere(target.client, 'mail.send')).reverse();
  expect(jobs.map(({ params }) => params)).toEqual([
    { to: 'fails' },
    { to: 'ada' },
    { to: 'later' },
    {},
    {},
  ]);
  const [fails, ada, later, plain] = jobs;
  expect(fails).toMatchObject({ priority: 8, maxAttempts: 4 });
  expect(ada).toMatchObject({ status: 'queued', priority: 3, maxAttempts: 5 });
  expect(later).toMatchObject({ status: 'scheduled', runAt: LATER });
  expect(plain).toMatchObject({ status: 'queued', priority: 0, tags: ['import:pg-boss'] });
});

it('removes what is stored here and nothing else, and keeps unique and concurrency keys', async () => {
  await boss.createQueue('sync', { policy: 'short' });
  await boss.createQueue('pay', { policy: 'singleton' });
  await boss.send('sync', { account: 7 }, { singletonKey: 'account-7' });
  await boss.send('pay', { account: 8 }, { singletonKey: 'account-8' });
  const { report } = await imports('--queue', 'sync', '--queue', 'pay', '--remove');
  expect(report?.removed).toEqual({ jobs: 2, schedules: 0 });
  expect([await waiting('sync'), await waiting('pay')]).toEqual([[], []]);
  // The application has moved, too: its next request finds the imported job.
  const [imported] = await jobsHere(target.client, 'sync');
  const unique = { key: 'account-7', while: 'queued' } as const;
  const again = await target.client.enqueue('sync', { account: 7 }, { unique });
  expect(again.id).toBe(imported?.jobId);
  const [paid] = await jobsHere(target.client, 'pay');
  expect(paid).toMatchObject({ concurrencyKey: 'account-8' });
});

it('leaves jobs that the server refuses, with the reason, and imports the others', async () => {
  await boss.createQueue('strict');
  await boss.createQueue('_odd');
  const ids = await boss.insert('strict', [{ data: { to: 5 } }, { data: { to: 'ada' } }], {
    returnId: true,
  });
  const odd = await boss.send('_odd', {});
  const { code, report } = await imports('--queue', 'strict', '--queue', '_odd', '--remove');
  expect(code).toBe(1);
  expect(report).toMatchObject({ refused: 2, removed: { jobs: 1 } });
  expect(report?.left).toEqual([
    {
      queue: '_odd',
      reason: '"_odd" is no key of a definition: use --map "_odd=NEW"',
      count: 1,
      examples: [odd],
    },
    {
      queue: 'strict',
      reason: 'refused here: params/to must be string',
      count: 1,
      examples: [ids?.[0]],
    },
  ]);
  expect(await waiting('strict')).toHaveLength(1);
});

it('imports schedules by name, and names those that it cannot', async () => {
  await boss.createQueue('night');
  const options = { tz: 'Europe/Berlin', priority: 2 };
  await boss.schedule('night', '30 2 * * *', { full: true }, options);
  await boss.schedule('night', 'FREQ=MONTHLY;BYDAY=-1FR', null, { key: 'last-friday' });
  const first = await imports('--queue', 'night', '--map', '*=night.run', '--remove');
  expect(first.report?.schedules).toMatchObject([{ name: 'pg-boss:night', before: false }]);
  expect(first.report?.left).toMatchObject([{ examples: ['pg-boss:night:last-friday'] }]);
  const page = await target.client.schedules.list({ definitionKey: 'night.run' });
  expect(page.schedules).toMatchObject([
    { cron: '30 2 * * *', timezone: 'Europe/Berlin', params: { full: true }, priority: 2 },
  ]);
  expect((await boss.getSchedules()).map(({ key }) => key)).toEqual(['last-friday']);
});

it('loses and doubles nothing when it is killed between storing and removing', async () => {
  await boss.createQueue('bulk');
  const data = Array.from({ length: 1_200 }, (_none, number) => ({ data: { number } }));
  await boss.insert('bulk', data);
  const args = ['pg-boss', '--queue', 'bulk', '--remove'];
  const killed = await killedImport(target.server.address, database.url, args);
  expect(killed).toEqual({ signal: 'SIGKILL', stored: 1 });
  expect(await jobsHere(target.client, 'bulk')).toHaveLength(500);
  expect(await waiting('bulk')).toHaveLength(1_200);
  // PostgreSQL notices the dead process, and ends its transaction.
  const report = await until('all jobs are removed', async () => {
    const run = await imports('--queue', 'bulk', '--remove');
    return (await waiting('bulk')).length === 0 ? run.report : null;
  });
  expect(report?.left).toEqual([]);
  const numbers = (await jobsHere(target.client, 'bulk')).map(
    ({ params }) => (params as { number: number }).number,
  );
  expect(new Set(numbers).size).toBe(1_200);
  expect(numbers).toHaveLength(1_200);
});

it('refuses a queue, a schema and a database that are not there', async () => {
  const queue = await imports('--queue', 'mial');
  expect([queue.code, queue.stderr]).toEqual([2, expect.stringContaining('did you mean \\"mail')]);
  const schema = await imports('--schema', 'jobs');
  expect(schema.stderr).toContain('has no tables of pg-boss 10 or newer: use --schema');
  const down = await longshoreImport(target.server.address, 'postgres://127.0.0.1:1/x', [
    'pg-boss',
  ]);
  expect(down.code).toBe(6);
  const other = await longshoreImport(target.server.address, 'redis://127.0.0.1:1', ['pg-boss']);
  expect(other.stderr).toContain('--from must be a postgres:// URL');
});
