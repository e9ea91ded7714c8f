import { describe, expect, test } from 'vitest';
import { run } from '../../test/support/cli.ts';
import { json, playAnswers, problem } from '../../test/support/servers/playing-server.ts';
import { JOB_STATES } from '../core/job/job.ts';

const ID = '01980000-0000-7000-8000-000000000000';

describe('stats', () => {
  const none = { p50: null, p95: null, p99: null };
  const states = Object.fromEntries(JOB_STATES.map((state) => [state, 0]));
  const idle = { depth: 0, running: 0, states, oldestAgeMs: null, successRate: null };
  const rest = { failureRate: null, waitMs: none, runMs: none, retries: 0 };
  const busy = {
    depth: 2,
    running: 1,
    states: { ...states, queued: 2, failed: 3 },
    oldestAgeMs: 61_000,
    successRate: 0.9996,
    runMs: { ...none, p95: { from: 1_000, to: 2_500 } },
    retries: 4,
  };
  const definitions = [
    { key: 'a', ...idle, ...rest },
    { key: 'b', ...rest, ...busy },
  ];
  const totals = { ...states, queued: 2, failed: 3 };

  test('prints a row for each definition, and tells the totals', async () => {
    const { url, seen } = await playAnswers(json(200, { definitions, totals }));
    const { stdout, stderr } = await run(['stats', '--window-minutes', '15', '--url', url]);
    expect(stdout).toBe(
      'DEFINITION  QUEUED  RUNNING  RETRYING  SCHEDULED  FAILED  OLDEST  SUCCESS  WAIT-P95  RUN-P95  RETRIES\n' +
        'a           0       0        0         0          0       -       -        -         -        0\n' +
        'b           2       1        0         0          3       1m      99.9 %   -         ≈ 1.6 s  4\n',
    );
    expect(stderr).toBe('Total: 2 queued, 3 failed.\n');
    expect(seen[0]?.url).toBe('/v1/stats?windowMinutes=15&seriesMinutes=1');
  });

  test('says on stderr that there is nothing yet', async () => {
    const { url } = await playAnswers(json(200, { definitions: [], totals }));
    const { stdout, stderr } = await run(['stats', '--url', url]);
    expect({ stdout, stderr }).toEqual({ stdout: '', stderr: 'No jobs yet.\n' });
  });
});

describe('shards', () => {
  const jobs = Object.fromEntries(JOB_STATES.map((state) => [state, 0]));
  const one = {
    shard: 0,
    node: '10.0.0.5:5432/jobs',
    problem: null,
    jobs: { ...jobs, queued: 240, running: 7, cancelling: 1, retrying: 2 },
    oldestAgeMs: 18_200,
    lateMs: 0,
    enqueuedPerSecond: 4.1,
    endedPerSecond: 3.9,
    workers: { live: 2, dead: 1 },
  };
  const none = { oldestAgeMs: null, lateMs: null, enqueuedPerSecond: null, endedPerSecond: null };
  const failed = { shard: 1, node: null, problem: 'the disk is full', jobs: null, workers: null };

  test('prints a row for each shard, and names the one that could not be read', async () => {
    const shards = [one, { ...failed, ...none }];
    const { url, seen } = await playAnswers(json(200, { windowSeconds: 320, shards }));
    const { stdout, stderr } = await run(['shards', '--url', url]);
    expect(stdout).toBe(
      'SHARD  NODE                QUEUED  RUNNING  SCHEDULED  RETRYING  SUSPENDED  OLDEST  LATE  IN/S  OUT/S  WORKERS  DEAD\n' +
        '0      10.0.0.5:5432/jobs  240     8        0          2         0          18s     -     4.1   3.9    2        1\n' +
        '1      -                   -       -        -          -         -          -       -     -     -      -        -\n',
    );
    expect(stderr).toBe(
      'Shard 1 could not be read: the disk is full\n' +
        '2 shards on 1 database. Rates are of the last 320 s.\n',
    );
    expect(seen[0]?.url).toBe('/v1/shards');
  });

  test('prints what the API returned with --json', async () => {
    const { url } = await playAnswers(json(200, { windowSeconds: 320, shards: [one] }));
    const { stdout } = await run(['shards', '--json', '--url', url]);
    expect(JSON.parse(stdout)).toMatchObject({ shards: [{ shard: 0, jobs: { queued: 240 } }] });
  });
});

describe('scale', () => {
  test('prints a row for each definition, and the total', async () => {
    const numbers = { waiting: 240, running: 8, oldestAgeMs: 18_200, arrivalsPerSecond: 4.125 };
    const one = { key: 'a', ...numbers, runMs: 2_050.4, wantedSlots: 17, slots: 8 };
    const idle = { ...one, key: 'b', oldestAgeMs: null, runMs: null, wantedSlots: 0 };
    const total = { wantedSlots: 17, slots: 8, allTenants: true, limited: [] };
    const { url, seen } = await playAnswers(json(200, { ...total, definitions: [one, idle] }));
    const { stdout, stderr } = await run(['scale', '--target-seconds', '300', '--url', url]);
    expect(stdout).toBe(
      'DEFINITION  WAITING  RUNNING  OLDEST  ARRIVALS/S  RUN  WANTED  SLOTS\n' +
        'a           240      8        18s     4.13        2 s  17      8\n' +
        'b           240      8        -       4.13        -    0       8\n',
    );
    expect(stderr).toBe('Total of all tenants: 17 slots wanted, 8 present.\n');
    expect(seen[0]?.url).toBe('/v1/scale?targetSeconds=300');
  });
});

describe('workers', () => {
  const WORKER = '6a1f0c52-8d0e-4f0b-9a53-1f6c2b7d9e10';

  test('prints columns with what runs and when each was last heard of', async () => {
    const worker = { workerId: WORKER, host: 'h', pid: 7, version: '1.0', slots: 8 };
    const times = { heartbeatAt: '2030-01-01T00:00:56Z', startedAt: '2029-12-30T00:00:00Z' };
    const held = {
      running: [ID, ID],
      busy: 2,
      notLoaded: ['jobs/bad.ts: Error: boom'],
      endedBy: null,
    };
    const workers = [{ ...worker, ...times, ...held, status: 'active' }];
    const { url } = await playAnswers(json(200, { workers }));
    const { stdout, stderr } = await run(['workers', '--url', url]);
    expect(stdout).toBe(
      'ID                                    STATUS  RUNNING  HEARTBEAT  AGE  VERSION  HOST\n' +
        `${WORKER}  active  2/8      4s         2d   1.0      h (pid 7)\n`,
    );
    expect(stderr).toBe('Not loaded by h (pid 7): jobs/bad.ts: Error: boom\n');
    expect(JSON.parse((await run(['workers', '--json', '--url', url])).stdout)).toEqual({
      workers,
    });
  });

  test('says on stderr that there are none', async () => {
    const { url } = await playAnswers(json(200, { workers: [] }));
    const { stdout, stderr } = await run(['workers', '--url', url]);
    expect({ stdout, stderr }).toEqual({ stdout: '', stderr: 'No workers.\n' });
  });

  test('drain asks one to leave', async () => {
    const drained = json(202, { workerId: WORKER, status: 'draining' });
    const { url, seen } = await playAnswers(drained, problem(409, 'CONFLICT'));
    const { code, stdout } = await run(['workers', 'drain', WORKER, '--url', url]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${WORKER}  draining\n` });
    expect(seen[0]).toMatchObject({ method: 'POST', url: `/v1/workers/${WORKER}/drain` });
    expect((await run(['workers', 'drain', WORKER, '--url', url])).code).toBe(5);
    expect((await run(['workers', 'drain', 'x', '--url', url])).code).toBe(3);
  });
});
