import { expect, test } from 'vitest';
import { run } from '../../../../test/support/cli.ts';
import { json, playBeside } from '../../../../test/support/servers/playing-server.ts';
import { JOB_STATES } from '../../../core/job/job.ts';

const ID = '01980000-0000-7000-8000-0123456789ab';
const none = Object.fromEntries(JOB_STATES.map((state) => [state, 0]));
const NO_LIMITS = { concurrencyLimit: null, concurrencyKeyLimit: null };
const limits = { effective: { ...NO_LIMITS, rateLimit: null, keyRateLimit: null } };
const base = {
  owner: null,
  description: null,
  runbookUrl: null,
  maxAttempts: 3,
  timeoutSeconds: 60,
  isolation: 'process',
  memoryMb: null,
  command: null,
  redact: [],
  paramsSchema: null,
  limits,
  paused: null,
};
const definitions = [
  { ...base, key: 'report', version: 1 },
  {
    ...base,
    key: 'report',
    version: 2,
    owner: 'team-a',
    paused: { reason: 'printer', by: 'key:58c5788b7c0b260d (ada)', since: '2030-01-01T00:00:00Z' },
    paramsSchema: { type: 'object' },
    limits: { effective: { ...limits.effective, concurrencyLimit: 4 } },
  },
  { ...base, key: 'total', version: 1 },
];
const counts = { states: { ...none, queued: 2, retrying: 1, suspended: 4 }, running: 5 };
const group = {
  countIsExact: true,
  definitions: [
    { definitionKey: 'report', count: 7, trend: [] },
    { definitionKey: 'total', count: 1, trend: [] },
  ],
};
const failure = {
  jobId: ID,
  finishedAt: '2030-01-01T00:00:00Z',
  updatedAt: '2030-01-01T00:00:00Z',
  error: { code: 'TIMEOUT', message: 'too late' },
};
const schedule = { id: 's', name: 'nightly', cron: '0 2 * * *', timezone: 'UTC' };
const since = { since: '2030-01-01T00:00:00Z', by: null, reason: null };
const paused = { ...schedule, note: null, nextAt: null, enabled: false, paused: since };

const server = async () =>
  (
    await playBeside({
      '/v1/definitions': json(200, { definitions }),
      '/v1/stats?seriesMinutes=1': json(200, { definitions: [{ key: 'report', ...counts }] }),
      '&limit=1000': json(200, { groups: [group], complete: true }),
      '/v1/schedules?definitionKey=report': json(200, { schedules: [paused], nextCursor: null }),
      '&limit=5': json(200, { jobs: [failure], nextCursor: null }),
    })
  ).url;

test('lists definitions with their newest version, their jobs and pauses', async () => {
  const { stdout } = await run(['definitions', '--url', await server()]);
  expect(stdout.split('\n')).toEqual([
    'DEFINITION  VERSION  OWNER   WAITING  RUNNING  SUSPENDED  FAILED 24 H  PAUSED',
    'report      2        team-a  3        5        4          7            printer',
    'total       1        -       0        0        0          1            -',
    '',
  ]);
  const asJson = await run(['definitions', '--json', '--url', await server()]);
  expect(JSON.parse(asJson.stdout)).toMatchObject({
    definitions: [
      { key: 'report', waiting: 3, suspended: 4, failed: 7, failedIsExact: true },
      { key: 'total' },
    ],
  });
});

test('shows one with limits, schedules, failures and schema', async () => {
  const { stdout } = await run(['definitions', 'report', '--url', await server()]);
  expect(stdout).toMatch(/^definition +report version 2$/m);
  expect(stdout).toMatch(/^paused +1m ago by ada \(key 58c5…\): printer$/m);
  expect(stdout).toMatch(/^limits +running 4$/m);
  expect(stdout).toContain('3 waiting, 5 running, 4 suspended, 7 failed in 24 h');
  expect(stdout).toContain('  nightly  0 2 * * * (UTC)  paused');
  expect(stdout).toContain('  0123456789ab  1m ago  TIMEOUT too late');
  expect(stdout).toMatch(/Schema of the params:\n {2}\{\n {4}"type": "object"/);
});

test('an unknown one ends with 3 and the nearest name', async () => {
  const { code, stderr } = await run(['definitions', 'reprot', '--url', await server()]);
  expect({ code, stderr }).toEqual({
    code: 3,
    stderr: 'error: unknown definition "reprot": did you mean "report"?\n',
  });
});
