import type { Bench } from '../harness/bench.ts';
import { nowMs, sleep } from '../harness/clock.ts';
import { type Consumers, cpuPerJob, processes, readCpu } from '../harness/cpu.ts';
import type { Store } from '../servers/store.ts';
import type { Isolation, Queues } from '../systems/system.ts';
import { BULK_SIZE } from './bulk.ts';
import { countAt, momentOf } from './marks.ts';

export interface DrainPlan {
  jobs: number;
  /** The first so many are not counted: code gets warm, pools open, plans are made. */
  warmup?: number;
  workers?: number;
  /** Which queues the jobs are in, and how many of them fail: one of so many. */
  queues?: Queues;
  failEvery?: number;
  /** Whether their handlers wait for a turn of the event loop. */
  awaits?: boolean;
  /** Until the store has no unfinished job, or until the last of the measured handlers starts. */
  end?: 'store' | 'handlers';
  /** Where the workers get their jobs, if not from the store itself. */
  url?: string;
  /** More processes whose CPU is counted. */
  consumers?: Consumers;
  /** A slow drain is cut so long after its first job, and its rate taken from what was done. */
  cutMs?: number;
}

export interface Drained {
  perSecond: number;
  /** Microseconds per job: `cpu-worker` and `cpu-server`. */
  cpu: Record<string, number>;
}

const POLL_MS = 2;
const START_MS = 30_000;
const FINISH_MS = 10_000;

export async function fill(
  bench: Bench,
  system: string,
  url: string,
  jobs: number,
  kind: { isolation?: Isolation; queues?: Queues } = {},
): Promise<void> {
  await using agent = await bench.open({ system, url, role: 'producer', ...kind });
  await agent.call('enqueueBulk', jobs, BULK_SIZE, 2);
  await agent.stop();
}

/** Starts workers on a filled store. */
export async function drain(
  bench: Bench,
  system: string,
  store: Store,
  plan: DrainPlan,
): Promise<Drained> {
  const {
    jobs,
    workers = 1,
    queues = 'one',
    failEvery = 0,
    awaits = false,
    end = 'store',
    cutMs = bench.size(15_000, 2_000),
  } = plan;
  const warmup = plan.warmup ?? jobs / 5;
  await using stack = new AsyncDisposableStack();
  const agents = Array.from({ length: workers }, () => stack.use(bench.agent(system)));
  await Promise.all(agents.map(async (agent) => await agent.call('load', system)));
  const command = { system, url: plan.url ?? store.url, queues, failEvery, awaits };
  const own = { 'cpu-worker': processes(agents), 'cpu-server': store.cpuSeconds };
  const consumers = { ...own, ...plan.consumers };
  let warm = readCpu(consumers);
  const beginMs = nowMs();
  await Promise.all(
    agents.map(async (agent) => await bench.open({ ...command, role: 'worker' }, agent)),
  );
  const started = () => agents.reduce((sum, agent) => sum + agent.count, 0);
  const until = async (count: number, deadlineMs: number): Promise<boolean> => {
    while (started() < count && nowMs() < deadlineMs) {
      await Promise.all(agents.map(async (agent) => await agent.alive(POLL_MS)));
    }
    return started() >= count;
  };
  if (!(await until(1, nowMs() + START_MS))) throw new Error('no job was started');
  const cutAtMs = nowMs() + cutMs;
  if (warmup > 0 && (await until(warmup, cutAtMs))) warm = readCpu(consumers);
  const complete = await until(jobs, cutAtMs);
  const drained = complete && end === 'store';
  if (drained) await untilDrained(store);
  const ended = readCpu(consumers);
  const series = await Promise.all(agents.map(async (agent) => await agent.call('marks')));
  // With jobs left, a worker would go on with them before it stops, so it is killed.
  await Promise.all(
    agents.map(async (agent) => (drained ? agent.stop() : agent.call('writeProfile'))),
  );
  const total = complete ? jobs : countAt(series, ended.atMs);
  const endMs = (complete && end === 'handlers' ? momentOf(series, jobs) : undefined) ?? ended.atMs;
  const warmMs = total > warmup && warmup > 0 ? momentOf(series, warmup) : undefined;
  const counted = warmMs === undefined ? total : total - warmup;
  const costed = (drained ? jobs : countAt(series, ended.atMs)) - countAt(series, warm.atMs);
  return {
    perSecond: (counted / (endMs - (warmMs ?? beginMs))) * 1_000,
    cpu: cpuPerJob(warm, ended, costed),
  };
}

/** All handlers have started; the drain is over when the store has nothing unfinished. */
async function untilDrained(store: Store): Promise<void> {
  const deadlineMs = nowMs() + FINISH_MS;
  while (!(await store.isDrained())) {
    if (nowMs() > deadlineMs) throw new Error('jobs were left unfinished');
    await sleep(POLL_MS);
  }
}
