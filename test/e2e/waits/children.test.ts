import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { jobInState, startJob } from '../../support/api.ts';
import { blocksOf } from '../../support/checks/docs-blocks.ts';
import { BIN, endAll, launch } from '../../support/processes.ts';
import { pageProject } from '../../support/page-project.ts';
import { until } from '../../support/until.ts';

/** The examples of docs/guides/children.md, and a fan-out over killed servers and connections. */

const run = promisify(execFile);
const PAGE = 'docs/guides/children.md';
const CHILDREN = 300;

const FAN_OUT = `
import { defineJob } from 'longshore';

export const square = defineJob({ key: 'square', run: async ({ n }: { n: number }) => n * n });

export const sum = defineJob({
  key: 'sum',
  maxAttempts: 20,
  run: async ({ count }: { count: number }, ctx) => {
    for (let n = 0; n < count; n += 1) await ctx.spawn(square, { n }, { maxAttempts: 20 });
    const squares = await ctx.waitForChildren();
    return squares.reduce((total, { result }) => total + Number(result), 0);
  },
});
`;

const { env, database } = pageProject(PAGE, { 'jobs/fan-out.ts': FAN_OUT }, 2_000);

it('builds an album and reports, as the page says', async () => {
  const { address } = (await launch('start', { env: env() })).summary;
  const album = await startJob(address, 'album.build', { photos: ['cat', 'dog'] });
  const built = await jobInState(address, album, 'succeeded');
  expect(built).toMatchObject({
    attempts: 1,
    result: { files: ['cat-small.jpg', 'dog-small.jpg'] },
  });
  const results = [];
  for (const withMap of [true, false]) {
    const report = await startJob(address, 'report.build', { withMap });
    results.push((await jobInState(address, report, 'succeeded')).result);
  }
  expect(results).toEqual([
    { complete: false, states: ['succeeded', 'failed'] },
    { complete: true },
  ]);
  const [block] = blocksOf(PAGE, 'sh');
  const text = (block?.text ?? 'false').replaceAll(
    'npx longshore',
    `"${process.execPath}" "${BIN}"`,
  );
  const variables = { PATH: process.env['PATH'], LONGSHORE_URL: address, JOB: album };
  const { stdout } = await run('sh', ['-ec', text], { env: variables });
  expect(stdout).toContain('dog-small.jpg');
  const lines = stdout.split('\n').filter((line) => line.includes('─ child'));
  expect(lines).toHaveLength(2);
});

it('makes each child once and sees all of them end, over kills', async () => {
  const count = async (query: string) =>
    (await database().sql<{ n: number }>(`select count(*)::int as n from ${query}`))[0]?.n ?? 0;
  const children = async () => await count("longshore.edge where kind = 'child'");
  const base = await children();
  const first = await launch('start', { env: env() });
  const parent = await startJob(first.summary.address, 'sum', { count: CHILDREN });
  await until('some children are stored', async () => (await children()) > base + CHILDREN / 4);
  first.signal('SIGKILL');
  await first.exited;
  await endAll();

  const second = await launch('start', { env: env() });
  await until('more children are stored', async () => (await children()) > base + CHILDREN / 2);
  // What a restart of the database does to everyone who is connected.
  await database().sql(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and application_name like 'longshore%'`,
  );
  await until('all are stored', async () => (await children()) === base + CHILDREN);
  second.signal('SIGKILL');
  await second.exited;
  await endAll();

  const { address } = (await launch('start', { env: env() })).summary;
  const sum = await until('the parent has ended', async () => {
    const answer = await fetch(`${address}/v1/jobs/${parent}`).catch(() => null);
    const job = (await answer?.json()) as { finishedAt: string | null; result: unknown };
    return job?.finishedAt ? job : null;
  });
  const wanted = Array.from({ length: CHILDREN }, (_, n) => n * n).reduce((a, b) => a + b, 0);
  expect(sum).toMatchObject({ status: 'succeeded', result: wanted });
  expect(await children()).toBe(base + CHILDREN);
  expect(
    await count("longshore.job j join longshore.queue q using (queue) where q.key = 'square'"),
  ).toBe(CHILDREN);
});
