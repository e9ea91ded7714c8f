import { describe, expect, it } from 'vitest';
import { readPrometheusText } from '../../test/support/servers/prometheus-text.ts';
import { bucketOf } from '../core/series/histogram.ts';
import { jobsByState } from '../core/shards/shards.ts';
import type { ClusterRows, Move } from '../store/counters/read-metrics.ts';
import { clusterFamilies } from './cluster.ts';
import { definitionNames } from './definition-names.ts';
import { textOf } from './family.ts';
import { WorkerMetrics } from './worker-metrics.ts';

const nothing: ClusterRows = {
  moves: [],
  spans: [],
  oldest: [],
  suspended: [],
  workers: [],
  held: [],
  wantedSlots: 0,
  shards: [],
  lateMs: 0,
  counterLagMs: 0,
  tables: [],
  holder: null,
};

const move = (key: string, was: Move['was'], state: Move['state'], n: number, more = {}): Move => ({
  key,
  first: 1,
  was,
  state,
  code: null,
  attempt: null,
  n,
  ...more,
});

const read = async (rows: Partial<ClusterRows>) => {
  const families = readPrometheusText(await textOf(clusterFamilies({ ...nothing, ...rows })));
  return (name: string, labels: Record<string, string> = {}) =>
    families
      .get(name)
      ?.samples.filter((one) => Object.entries(labels).every(([k, v]) => one.labels[k] === v))
      .map(({ labels: own, value }) => ({ ...own, value }));
};

const grown = (samples: { value: number }[] | undefined) =>
  samples?.filter(({ value }) => value > 0);

describe('the families of a cluster', () => {
  it('are well-formed when there is nothing', async () => {
    const of = await read({});
    expect(of('longshore_jobs')).toEqual([]);
    expect(of('longshore_webhook_deliveries_total')).toHaveLength(3);
    expect(of('longshore_slots')).toEqual([
      { state: 'busy', transport: 'database', value: 0 },
      { state: 'free', transport: 'database', value: 0 },
      { state: 'busy', transport: 'http', value: 0 },
      { state: 'free', transport: 'http', value: 0 },
    ]);
  });

  it('has metrics per shard only where there are several', async () => {
    expect((await read({}))('longshore_shard_jobs')).toBeUndefined();
    const jobs = jobsByState([{ state: 'queued', n: 7 }]);
    const load = { jobs, oldestAgeMs: 1_500, lateMs: 250 };
    const of = await read({ shards: [load, { ...load, jobs: jobsByState([]) }] });
    const one = { shard: '0' };
    expect(of('longshore_shard_jobs', { ...one, state: 'queued' })).toMatchObject([{ value: 7 }]);
    expect(of('longshore_shard_jobs', { shard: '1', state: 'queued' })).toMatchObject([
      { value: 0 },
    ]);
    expect(of('longshore_shard_oldest_age_seconds', one)).toMatchObject([{ value: 1.5 }]);
    expect(of('longshore_shard_scheduler_lag_seconds', one)).toMatchObject([{ value: 0.25 }]);
  });

  it('tell each move under every name that it has', async () => {
    const of = await read({
      moves: [
        move('a', null, 'queued', 10),
        move('a', null, 'running', 2),
        move('a', 'queued', 'running', 6),
        move('a', 'running', 'succeeded', 3),
        move('a', 'running', 'failed', 1, { code: 'LEASE_EXPIRED' }),
        move('a', 'running', 'queued', 1, { code: 'LEASE_EXPIRED' }),
        move('a', 'running', 'retrying', 1, { code: 'TIMEOUT', attempt: 7 }),
        move('a', 'failed', null, 1),
        move('$hook:a', null, 'queued', 99),
        move('$webhook', null, 'queued', 5),
        move('$webhook', 'queued', 'running', 4),
        move('$webhook', 'running', 'failed', 3),
        move('$alert', null, 'queued', 4),
        move('$alert', 'queued', 'running', 3),
        move('$alert', 'running', 'succeeded', 3),
      ],
    });
    const jobs = (state: string) => of('longshore_jobs', { state })?.[0]?.value;
    expect([jobs('queued'), jobs('running'), jobs('retrying')]).toEqual([5, 2, 1]);
    expect([jobs('succeeded'), jobs('failed'), jobs('created')]).toEqual([3, 0, 0]);
    expect(of('longshore_jobs_enqueued_total')).toEqual([{ definition: 'a', value: 12 }]);
    expect(of('longshore_jobs_started_total')).toEqual([{ definition: 'a', value: 8 }]);
    expect(grown(of('longshore_jobs_finished_total'))).toEqual([
      { definition: 'a', outcome: 'succeeded', code: '', value: 3 },
      { definition: 'a', outcome: 'failed', code: 'LEASE_EXPIRED', value: 1 },
    ]);
    const retries = [{ definition: 'a', attempt: '6-10', value: 1 }];
    expect(grown(of('longshore_job_retries_total'))).toEqual(retries);
    expect(of('longshore_leases_expired_total')).toEqual([{ definition: 'a', value: 2 }]);
    const failed = { outcome: 'failed', value: 3 };
    expect(of('longshore_webhook_deliveries_total', { outcome: 'failed' })).toEqual([failed]);
    expect(of('longshore_webhook_deliveries_pending')).toEqual([{ value: 2 }]);
    const told = { outcome: 'succeeded', value: 3 };
    expect(of('longshore_alert_messages_total', { outcome: 'succeeded' })).toEqual([told]);
    expect(of('longshore_alert_messages_pending')).toEqual([{ value: 1 }]);
  });

  it('count suspended jobs by cause, over all shards', async () => {
    const of = await read({
      suspended: [
        { cause: 'signal', jobs: 2 },
        { cause: 'signal', jobs: 3 },
      ],
    });
    expect(of('longshore_jobs_suspended')).toEqual([
      { cause: 'signal', value: 5 },
      { cause: 'parents', value: 0 },
      { cause: 'children', value: 0 },
      { cause: 'batch', value: 0 },
    ]);
  });

  it('tell local and remote workers apart', async () => {
    const of = await read({
      workers: [
        { status: 'active', transport: 'database', workers: 2, slots: 16 },
        { status: 'draining', transport: 'database', workers: 1, slots: 8 },
        { status: 'active', transport: 'http', workers: 3, slots: 6 },
        { status: 'dead', transport: 'http', workers: 4, slots: 99 },
      ],
      // By shard.
      held: [
        { transport: 'database', jobs: 5 },
        { transport: 'http', jobs: 4 },
        { transport: 'http', jobs: 3 },
      ],
    });
    const slots = (state: string, transport: string) =>
      of('longshore_slots', { state, transport })?.[0]?.value;
    expect([slots('busy', 'database'), slots('free', 'database')]).toEqual([5, 19]);
    // A claim of a very short job may wait for a slot.
    expect([slots('busy', 'http'), slots('free', 'http')]).toEqual([6, 0]);
    const workers = (status: string) =>
      of('longshore_workers', { status })?.map((one) => one.value);
    expect([workers('active'), workers('draining'), workers('dead')]).toEqual([
      [2, 3],
      [1, 0],
      [0, 4],
    ]);
  });

  it('tell what has not happened yet as 0, so that its first time is seen to come', async () => {
    const of = await read({ moves: [move('a', null, 'queued', 1)] });
    const zero = (labels = {}) => ({ definition: 'a', ...labels, value: 0 });
    const ends = of('longshore_jobs_finished_total');
    expect(ends).toContainEqual(zero({ outcome: 'succeeded', code: '' }));
    expect(ends).toContainEqual(zero({ outcome: 'failed', code: 'TIMEOUT' }));
    expect(ends).toContainEqual(zero({ outcome: 'failed', code: 'other' }));
    const attempts = ['1', '2', '3', '4', '5', '6-10', '11+'];
    const retries = attempts.map((attempt) => zero({ attempt }));
    expect(of('longshore_job_retries_total')).toEqual(retries);
    expect(of('longshore_leases_expired_total')).toEqual([zero()]);
    expect(of('longshore_jobs_started_total')).toEqual([zero()]);
    expect(of('longshore_job_run_seconds', { le: '+Inf' })).toEqual([zero({ le: '+Inf' })]);
  });

  it('have histograms in seconds, and labels that survive', async () => {
    const key = 'a"b\\c';
    const of = await read({
      moves: [move(key, null, 'queued', 1)],
      spans: [
        { key, state: 'running', bucket: 0, n: 2, ms: 6 },
        { key, state: 'succeeded', bucket: bucketOf(30_000_000), n: 1, ms: 30_000_000 },
        { key, state: 'failed', bucket: -1, n: 9, ms: 0 },
      ],
      oldest: [{ key, ageMs: 1_500 }],
    });
    const definition = 'a\\"b\\\\c';
    expect(of('longshore_queue_oldest_age_seconds')).toEqual([{ definition, value: 1.5 }]);
    expect(of('longshore_job_wait_seconds', { le: '0.005' })?.[0]?.value).toBe(2);
    expect(of('longshore_job_wait_seconds')?.at(-2)?.value).toBe(0.006);
    expect(of('longshore_job_run_seconds', { le: '21600' })?.[0]?.value).toBe(0);
    expect(of('longshore_job_run_seconds', { le: '43200' })?.[0]?.value).toBe(1);
    expect(of('longshore_job_run_seconds', { le: '+Inf' })?.[0]?.value).toBe(1);
  });
});

it('lets only the first definitions have a name of their own', () => {
  const used = [
    { key: 'new', first: 9 },
    { key: 'old', first: 3 },
    { key: 'old', first: 1 },
    { key: 'second', first: 2 },
  ];
  const labelOf = definitionNames(used, 2);
  expect(['old', 'second', 'new', 'unheard of'].map(labelOf)).toEqual([
    'old',
    'second',
    'other',
    'other',
  ]);
});

it('tells what a worker has claimed and settled', async () => {
  const metrics = new WorkerMetrics();
  metrics.claimed(30);
  metrics.claimed(0);
  metrics.settled(2);
  metrics.ran(50_000_000);
  metrics.ran(null);
  const families = readPrometheusText(await metrics.text());
  const count = (name: string) =>
    families.get(name)?.samples.find((one) => one.name.endsWith('_count'))?.value;
  expect(count('longshore_claim_batch_jobs')).toBe(1);
  expect(count('longshore_settle_batch_jobs')).toBe(1);
  expect(count('longshore_runner_memory_bytes')).toBe(1);
  expect(families.get('process_cpu_seconds_total')?.samples[0]?.value).toBeGreaterThan(0);
  expect(families.get('longshore_build_info')?.samples[0]?.labels).toHaveProperty('version');
});
