import { expect, test } from 'vitest';
import { run } from '../../../../test/support/cli.ts';
import { json, playAnswers } from '../../../../test/support/servers/playing-server.ts';

const SUMS = {
  jobs: 120,
  attempts: 124,
  runSeconds: 310.25,
  cpuSeconds: 268.4,
  peakRssBytes: 104_857_600,
};
const ROW = { day: '2026-01-31', tenant: null, definitionKey: 'image.resize', ...SUMS };
const USAGE = {
  at: '2026-01-31T12:00:00.000Z',
  from: '2026-01-31',
  to: '2026-01-31',
  groupBy: ['day', 'definition'],
  rows: [ROW, { ...ROW, definitionKey: 'tiny', cpuSeconds: null, peakRssBytes: null }],
  total: SUMS,
};

test('prints a table, CSV or JSON of what is asked for', async () => {
  const usage = json(200, USAGE);
  const { url, seen } = await playAnswers(usage, usage, usage, usage);
  const table = await run(['usage', '--by', 'day,definition', '--url', url]);
  expect(table.stdout).toBe(
    [
      'DAY         DEFINITION    JOBS  ATTEMPTS  RUN TIME  CPU TIME   PEAK MEMORY',
      '2026-01-31  image.resize  120   124       5m10s     4m28s      100 MiB',
      '2026-01-31  tiny          120   124       5m10s     not known  -',
      'total                     120   124       5m10s     4m28s      100 MiB',
      '',
    ].join('\n'),
  );
  expect(table.stderr).toBe('2026-01-31 to 2026-01-31 (UTC).\n');
  const days = ['--from', '2026-01-31', '--to', '2026-01-31'];
  const csv = await run(['usage', ...days, '--csv', '--url', url]);
  expect(csv.stdout.split('\r\n')).toEqual([
    'day,definitionKey,jobs,attempts,runSeconds,cpuSeconds,peakRssBytes',
    '2026-01-31,image.resize,120,124,310.25,268.4,104857600',
    '2026-01-31,tiny,120,124,310.25,,',
    '',
  ]);
  const document = await run(['usage', 'tiny', '--json', '--url', url]);
  expect(JSON.parse(document.stdout)).toEqual(USAGE);
  await run(['usage', '--all-tenants', '--csv', '--url', url]);
  expect(seen.map(({ url: path }) => path)).toEqual([
    '/v1/usage?groupBy=day&groupBy=definition',
    '/v1/usage?from=2026-01-31&to=2026-01-31&groupBy=definition',
    '/v1/usage?groupBy=definition&definitionKey=tiny',
    '/v1/usage?groupBy=tenant&groupBy=definition&allTenants=true',
  ]);
});

test.each([
  [['--by', 'dya'], 'did you mean "day"?'],
  [['--from', '2026-02-30'], 'Must be a day like 2026-01-31.'],
  [['--csv', '--json'], 'give --csv or --json'],
])('%j is refused', async (flags, message) => {
  const refused = await run(['usage', ...flags]);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(message);
});

const BUDGET = {
  name: 'resize-cpu',
  definitionKey: 'image.resize',
  measure: 'cpuSeconds',
  period: 'day',
  amount: 3_600,
  used: 2_160.4,
  usedPercent: 60,
  runsOutAt: null,
};

test('budgets are listed, set and deleted', async () => {
  const { url, seen } = await playAnswers(
    json(200, { budgets: [BUDGET] }),
    json(200, { budgets: [] }),
    json(200, { ...BUDGET, definitionKey: null, used: 0.12345 }),
    json(204, null),
  );
  const listed = await run(['budgets', '--url', url]);
  expect(listed.stdout).toMatch(
    /^resize-cpu +image.resize +3600 CPU seconds +day +2160 +60 % +-$/m,
  );
  expect((await run(['budgets', 'list', '--url', url])).stderr).toBe('No budgets.\n');
  const set = await run(['budgets', 'set', 'resize-cpu', '--cpu-seconds', '3600', '--url', url]);
  expect(set.stdout).toMatch(/resize-cpu +all +3600 CPU seconds +day +0.123/);
  const gone = await run(['budgets', 'delete', 'resize-cpu', '--yes', '--url', url]);
  expect(gone.stdout).toBe('resize-cpu\n');
  expect(seen.map(({ method, url: path, body }) => [`${method} ${path}`, body ?? null])).toEqual([
    ['GET /v1/budgets', null],
    ['GET /v1/budgets', null],
    ['PUT /v1/budgets/resize-cpu', { measure: 'cpuSeconds', period: 'day', amount: 3_600 }],
    ['DELETE /v1/budgets/resize-cpu', null],
  ]);
});

test.each([
  [[], 'give one of --cpu-seconds, --run-seconds and --jobs'],
  [['--jobs', '1', '--run-seconds', '2'], 'give one of'],
  [['--jobs', '0'], 'Must be a number above 0.'],
  [['--jobs', '1', '--per', 'week'], 'day, month'],
])('a budget with %j is refused', async (flags, message) => {
  const refused = await run(['budgets', 'set', 'x', ...flags]);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain(message);
});
