import { Agent } from '../agent/agent.ts';
import type { Mark } from '../agent/commands.ts';
import type { Bench } from '../harness/bench.ts';
import { nowMs, sleep } from '../harness/clock.ts';
import type { Store } from '../servers/store.ts';
import type { Isolation } from '../systems/system.ts';
import { BULK_SIZE } from './bulk.ts';

export interface DrainPlan {
  jobs: number;
  /** The first so many are not counted: code gets warm, pools open, plans are made. */
  warmup: number;
  workers?: number;
  /** Until the store has no unfinished job, or until the last of the measured handlers starts. */
  end?: 'store' | 'handlers';
  /** A slow drain is cut after so long, and its rate taken from what was done. */
  cutMs?: number;
}

const POLL_MS = 2;
const FINISH_MS = 10_000;

export async function fill(
  bench: Bench,
  system: string,
  url: string,
  jobs: number,
  isolation: Isolation = 'inline',
): Promise<void> {
  await using agent = await bench.open({ system, url, role: 'producer', isolation });
  await agent.call('enqueueBulk', jobs, BULK_SIZE, 2);
  await agent.stop();
}

/** Starts workers on a filled store and answers with their rate in jobs per second. */
export async function drain(
  bench: Bench,
  system: string,
  store: Store,
  plan: DrainPlan,
): Promise<number> {
  const { jobs, warmup, workers = 1, end = 'store', cutMs = bench.size(15_000, 2_000) } = plan;
  await using stack = new AsyncDisposableStack();
  const agents = Array.from({ length: workers }, () => stack.use(new Agent()));
  await Promise.all(agents.map(async (agent) => await agent.call('load', system)));
  const beginMs = nowMs();
  await Promise.all(
    agents.map(async (agent) => {
      const isolation = 'inline' as const;
      const aim = 'throughput' as const;
      await agent.call('open', { system, url: store.url, role: 'worker', isolation, aim });
    }),
  );
  const started = () => agents.reduce((sum, agent) => sum + agent.count, 0);
  while (started() < jobs && nowMs() - beginMs < cutMs) {
    await Promise.all(agents.map(async (agent) => await agent.alive(POLL_MS)));
  }
  const complete = started() >= jobs;
  if (complete && end === 'store') await untilDrained(store);
  const endMs = nowMs();
  const series = await Promise.all(agents.map(async (agent) => await agent.call('marks')));
  // Nothing is left to run, so it is the worker's own stop that is waited for, not a kill.
  if (complete && end === 'store') await Promise.all(agents.map(async (agent) => agent.stop()));
  const last = complete && end === 'handlers' ? moment(series, jobs) : undefined;
  return rate(series, { warmup, beginMs, endMs: last ?? endMs, jobs: complete ? jobs : undefined });
}

function rate(
  series: readonly Mark[][],
  drained: { warmup: number; beginMs: number; endMs: number; jobs: number | undefined },
): number {
  const { warmup, beginMs, endMs } = drained;
  const jobs = drained.jobs ?? reached(series, endMs);
  const warmMs = jobs > warmup && warmup > 0 ? moment(series, warmup) : undefined;
  const counted = warmMs === undefined ? jobs : jobs - warmup;
  return (counted / (endMs - (warmMs ?? beginMs))) * 1_000;
}

/** All handlers have started; the drain is over when the store has nothing unfinished. */
async function untilDrained(store: Store): Promise<void> {
  const deadlineMs = nowMs() + FINISH_MS;
  while (!(await store.isDrained())) {
    if (nowMs() > deadlineMs) throw new Error('jobs were left unfinished');
    await sleep(POLL_MS);
  }
}

/** When the workers together had started so many jobs, between marks by straight line. */
function moment(series: readonly Mark[][], count: number): number | undefined {
  let total = 0;
  let beforeMs: number | undefined;
  for (const { atMs, jobs } of together(series)) {
    if (total + jobs >= count) {
      const part = (count - total) / jobs;
      return beforeMs === undefined ? atMs : beforeMs + (atMs - beforeMs) * part;
    }
    total += jobs;
    beforeMs = atMs;
  }
  return undefined;
}

function reached(series: readonly Mark[][], untilMs: number): number {
  return together(series).reduce((sum, { atMs, jobs }) => sum + (atMs <= untilMs ? jobs : 0), 0);
}

/** The marks of all workers in order of time, each with the jobs since the worker's last one. */
function together(series: readonly Mark[][]): { atMs: number; jobs: number }[] {
  return series
    .flatMap((marks) =>
      marks.map(([atMs, count], i) => ({ atMs, jobs: count - (marks[i - 1]?.[1] ?? 0) })),
    )
    .sort((a, b) => a.atMs - b.atMs);
}
