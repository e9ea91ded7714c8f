import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Longshore } from '../../src/client/index.ts';
import { testDatabase, type TestDatabase } from '../support/servers/database.ts';
import { GONE, manyDeadLetters, SLOW } from '../support/dead-letters.ts';
import { HeldLink, untilBlocked } from '../support/servers/held-link.ts';
import { BIN, endAll, launch } from '../support/processes.ts';
import { until } from '../support/until.ts';

let database: TestDatabase;
beforeAll(async () => (database = await testDatabase()));
afterAll(async () => await database.close());
afterEach(async () => await endAll());

describe('the examples of docs/failures.md', () => {
  const page = readFileSync(new URL('../../docs/failures.md', import.meta.url), 'utf8');
  const blocks = (language: string) =>
    [...page.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))].map(
      ([, code = '']) => code,
    );
  let folder = '';

  // Inside the checkout, where `import 'longshore'` finds it.
  beforeAll(async () => {
    folder = await mkdtemp(join(fileURLToPath(new URL('../', import.meta.url)), 'example-'));
  });
  afterAll(async () => await rm(folder, { recursive: true }));

  const program = async (command: string, args: string[], url: string) => {
    const bin = join(folder, 'bin');
    await mkdir(bin, { recursive: true });
    await symlink(BIN, join(bin, 'longshore')).catch(() => undefined);
    const path = [bin, dirname(process.execPath), process.env['PATH']].join(':');
    const child = spawn(command, args, { cwd: folder, env: { PATH: path, LONGSHORE_URL: url } });
    const [stdout, stderr, code] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise((resolve) => child.once('close', resolve)),
    ]);
    return { code, stdout, stderr };
  };

  it('do what the page says', async () => {
    const [definition = '', sdk = ''] = blocks('ts');
    // The symbolic link is quicker than npx.
    const [one = '', many = ''] = blocks('sh').map((lines) =>
      lines.replaceAll('npx longshore', 'longshore'),
    );
    const jobs = join(folder, 'jobs');
    await mkdir(jobs);
    await writeFile(join(jobs, 'charge.ts'), definition);
    await writeFile(join(folder, 'sdk.ts'), sdk);
    const env = { DATABASE_URL: database.url, LONGSHORE_JOBS: jobs };
    const { address } = (await launch('start', { env })).summary;
    const client = new Longshore({ url: address });

    const single = await program('sh', ['-e', '-c', one], address);
    expect([single.code, single.stdout]).toEqual([0, expect.stringContaining('NON_RETRYABLE')]);
    const [letter] = (await client.list({ definitionKey: 'docs.charge' })).jobs;
    expect(letter).toMatchObject({ status: 'succeeded', attempts: 2, result: { charged: 42 } });
    expect(single.stdout).toMatch(/retry_scheduled .*"paramsBefore":\{"order":7\}/);

    for (const order of [1, 2, 3]) await client.enqueue('docs.charge', { order });
    const failed = async () => (await client.deadLetters.list()).jobs.length === 3;
    await until('three dead letters', failed);
    const bulk = await program('sh', ['-e', '-c', many], address);
    expect([bulk.code, bulk.stderr]).toEqual([0, expect.stringContaining('3 jobs queued again.')]);
    await until('they have failed again', failed);

    const { code, stdout, stderr } = await program(process.execPath, ['sdk.ts'], address);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.split('\n').slice(0, 3)).toEqual([
      expect.stringMatching(/^3 NON_RETRYABLE order \d has no card$/),
      'retried 3',
      'succeeded',
    ]);
  });
});

it('a bulk action survives kill -9 of its scheduler in the middle of a batch', async () => {
  const count = 1_500;
  const env = { DATABASE_URL: database.url, LONGSHORE_POLL_MS: '100' };
  await manyDeadLetters(database, { key: 'kill', count, mistakes: [SLOW, GONE] });
  const api = await launch('api', { env });
  const client = new Longshore({ url: api.summary.address });
  const { bulkId, matched } = await client.bulk.start('retry', { definitionKey: 'kill' });
  expect(matched).toBe(count);
  // A transaction holds a job of the second batch, so the scheduler stops there.
  const link = await HeldLink.begin(database);
  const hold = `select from longshore.done where id = (
      select f.id from longshore.done f join longshore.queue l using (shard, queue)
      where l.key = 'kill' order by f.id offset 700 limit 1
    ) for update`;
  await link.run({ name: 'hold', text: hold });
  const first = await launch('scheduler', { env });
  await until('one batch is done', async () => (await client.bulk.get(bulkId)).done === 500);
  await untilBlocked(database);
  first.signal('SIGKILL');
  await first.exited;
  expect(await client.bulk.get(bulkId)).toMatchObject({ status: 'running', done: 500 });
  await link.rollback();
  await Promise.all([launch('scheduler', { env }), launch('scheduler', { env })]);
  const bulk = await client.bulk.wait(bulkId);
  expect(bulk).toMatchObject({ status: 'finished', done: count, skipped: 0, failed: 0 });
  const rows = await database.sql(
    `select count(*)::int as jobs, min(w.claim_no) as least, max(w.claim_no) as most
     from longshore.waiting w join longshore.queue l using (shard, queue) where l.key = 'kill'`,
  );
  // A claim number is raised by each retry.
  expect(rows).toEqual([{ jobs: count, least: 2, most: 2 }]);
});
