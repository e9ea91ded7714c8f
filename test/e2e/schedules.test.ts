import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawnSync } from 'node:child_process';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Longshore } from '../../src/client/index.ts';
import { post } from '../support/api.ts';
import { cronChaos } from '../support/cron-chaos.ts';
import { testDatabase, type TestDatabase } from '../support/servers/database.ts';
import { endAll, FIXTURES, launch, run } from '../support/processes.ts';
import { until } from '../support/until.ts';

/** Schedules with real processes, as they are deployed. */

let database: TestDatabase;
beforeAll(async () => (database = await testDatabase()));
afterAll(async () => await database.close());
afterEach(async () => {
  await endAll();
  await database.sql(`truncate longshore.schedule, longshore.slot, longshore.scheduler,
    longshore.job, longshore.waiting, longshore.running, longshore.done, longshore.attempt`);
});

const settings = () => ({
  DATABASE_URL: database.url,
  LONGSHORE_JOBS: join(FIXTURES, 'scheduled'),
  LONGSHORE_LEASE_MS: '1500',
  LONGSHORE_POLL_MS: '200',
});

describe('the examples of docs/schedules.md', () => {
  const page = readFileSync(new URL('../../docs/schedules.md', import.meta.url), 'utf8');
  const blocks = (language: string) =>
    [...page.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))].map(
      ([, code = '']) => code,
    );

  it('run on the command line', async () => {
    const server = await launch('start', { env: settings() });
    const env = { LONGSHORE_URL: server.summary.address };
    const [lines = ''] = blocks('sh');
    const commands = lines.trim().split('\n');
    expect(commands.length).toBeGreaterThan(8);
    for (const command of commands) {
      const words = [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
        ([, double, single, bare]) => double ?? single ?? bare ?? '',
      );
      expect(words.slice(0, 2)).toEqual(['npx', 'longshore']);
      const { code, stdout, stderr } = await run(words.slice(2), { env });
      expect([command, code, stderr]).toEqual([command, 0, expect.any(String)]);
      expect(stdout).not.toBe('');
    }
    const asked = await run(['schedules', 'delete', 'unheard-of'], { env });
    expect([asked.code, asked.stderr]).toEqual([
      3,
      expect.stringContaining('no schedule is named'),
    ]);
    const unsure = await run(['schedules', 'delete', 'ticking'], { env });
    expect([unsure.code, unsure.stderr]).toEqual([2, expect.stringContaining('--yes')]);
  });

  it('run with the SDK', async () => {
    const server = await launch('api', { env: settings() });
    const [code = ''] = blocks('ts');
    const checkout = fileURLToPath(new URL('../../', import.meta.url));
    const folder = await mkdtemp(join(checkout, 'test/example-'));
    try {
      writeFileSync(join(folder, 'example.ts'), code);
      const { status, stdout, stderr } = spawnSync(process.execPath, ['example.ts'], {
        cwd: folder,
        env: { PATH: process.env['PATH'], LONGSHORE_URL: server.summary.address },
        encoding: 'utf8',
      });
      expect([status, stderr]).toEqual([0, '']);
      expect(stdout.trim().split('\n')).toHaveLength(3);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

it('a definition with a schedule runs by itself, through kills of everything', async () => {
  const first = await launch('start', { env: settings() });
  const { schedules } = new Longshore({ url: first.summary.address });
  const [schedule] = await until('it is there', async () => {
    const page = await schedules.list({ definitionKey: 'ticking' });
    return page.schedules.length > 0 ? page.schedules : null;
  });
  const succeeded = async () => {
    const rows = await database.sql<{ n: string }>(
      `select count(*) as n from longshore.done where state = 'succeeded'`,
    );
    return Number(rows[0]?.n);
  };
  await until('jobs have run', async () => (await succeeded()) >= 2);
  first.signal('SIGKILL');
  await first.exited;
  const second = await launch('start', { env: settings() });
  const before = await succeeded();
  await until('jobs run again', async () => (await succeeded()) >= before + 3);
  const { schedules: now } = new Longshore({ url: second.summary.address });
  const paused = await now.pause(schedule?.id ?? '');
  expect(paused).toMatchObject({ source: 'code', enabled: false, nextAt: null });
  second.signal('SIGTERM');
  await second.exited;
  // A worker that starts does not undo the pause.
  const third = await launch('start', { env: settings() });
  const { schedules: later } = new Longshore({ url: third.summary.address });
  expect(await later.get(schedule?.id ?? '')).toMatchObject({ enabled: false });
  const { slots } = await later.slots(schedule?.id ?? '', { limit: 200 });
  expect(slots.filter(({ status }) => status === 'fired').length).toBeGreaterThanOrEqual(5);
  await later.resume(schedule?.id ?? '');
  third.signal('SIGTERM');
  await third.exited;
});

it('run-due does it all without a server, and says so', async () => {
  const api = await launch('api', { env: settings() });
  const { schedules } = new Longshore({ url: api.summary.address });
  const client = new Longshore({ url: api.summary.address });
  const { id } = await schedules.create('hello', '0 0 1 1 *', { params: { name: 'Ada' } });
  const { jobId } = await schedules.trigger(id);
  const waits = await client.enqueue('unknown.key');
  const asked = await post(`${api.summary.address}/api/jobs/enqueue`, { type: 'unknown.key' });
  const { id: unknown } = asked.body as { id: string };
  const env = settings();
  const { code, stdout, stderr } = await run(['run-due', '--seconds', '60', '--json'], { env });
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  const summary = JSON.parse(stdout) as { succeeded: number; deadLettered: number };
  // The definition with a schedule of its own may have come due meanwhile.
  expect(summary.succeeded).toBeGreaterThanOrEqual(1);
  expect(summary.deadLettered).toBe(1);
  expect(await client.get(jobId)).toMatchObject({
    status: 'succeeded',
    scheduleId: id,
    result: { greeting: 'Hello, Ada!' },
  });
  expect((await client.get(unknown)).error?.code).toBe('NO_HANDLER');
  expect((await waits.get()).status).toBe('queued');
  const elsewhere = await post(`${api.summary.address}/api/jobs/run`, {});
  expect(elsewhere).toMatchObject({ status: 503, body: { code: 'NO_LOCAL_WORKER' } });
});

it('a server started with start runs what is due when it is asked to', async () => {
  const server = await launch('start', { env: settings() });
  const answer = await post(`${server.summary.address}/api/jobs/run`, { max: 5 });
  expect(answer).toMatchObject({ status: 200, body: { claimed: expect.any(Number) } });
  server.signal('SIGTERM');
  expect(await server.exited).toEqual({ code: 0, signal: null });
});

it('schedulers that are killed at random lose and double no slot', async () => {
  const { faults, kills, fired, slots } = await cronChaos({
    url: database.url,
    schedules: 60,
    schedulers: 2,
    goOn: (count) => count < 5,
    seed: 3,
  });
  expect(faults).toEqual([]);
  expect(kills).toBe(5);
  expect(fired).toBeGreaterThan(60);
  expect(slots).toBeGreaterThanOrEqual(fired);
});
