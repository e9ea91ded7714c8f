import type { Bench } from '../../harness/bench.ts';
import { sleep } from '../../harness/clock.ts';
import { percentile } from '../../harness/numbers.ts';
import type { Isolation } from '../../systems/system.ts';
import { drainIsolated } from './isolated.ts';
import type { Workload } from '../workload.ts';

const MODES = ['inline', 'thread', 'process', 'fresh', 'command'] as const;
/** A mode that starts a process for each job gets fewer of them. */
const JOBS = { inline: 20_000, thread: 20_000, process: 20_000, fresh: 400, command: 800 };
const WARMUP = 10;

export const isolation: Workload = {
  name: 'isolation',
  what:
    'What each isolation mode costs: queued no-op jobs, four at a time on one worker, and the ' +
    'time from the enqueue call to the stored outcome of one job at a time on an idle worker.',
  systems: ['longshore'],
  ownTables: true,
  metrics: MODES.flatMap((mode) => [
    { key: mode, unit: 'jobs/s', better: 'more' } as const,
    { key: `${mode}.p50`, unit: 'ms', better: 'less' } as const,
  ]),
  rounds: { full: 5, quick: 1 },
  seconds: { full: 60, quick: 20 },
  async measure(bench, system) {
    const figures: Record<string, number> = {};
    for (const mode of MODES) {
      const jobs = bench.size(JOBS[mode], JOBS[mode] / 10);
      const { perSecond } = await drainIsolated(bench, system, {
        isolation: mode,
        jobs,
        warmup: jobs / 5,
        cutMs: bench.size(15_000, 4_000),
      });
      figures[mode] = perSecond;
      figures[`${mode}.p50`] = await idleMs(bench, system, mode);
    }
    return figures;
  },
};

/** One job at a time; timed by the clock of the database. */
async function idleMs(bench: Bench, system: string, mode: Isolation): Promise<number> {
  await using store = await bench.database(system, 'latency');
  const command = { system, url: store.url, isolation: mode, aim: 'latency' } as const;
  await using worker = await bench.open({ ...command, role: 'worker' });
  await using producer = await bench.open({ ...command, role: 'producer' });
  const count = WARMUP + bench.size(100, 20);
  for (let n = 1; n <= count; n += 1) {
    await producer.call('enqueueOne', n);
    while (!(await store.isDrained())) await worker.alive(1);
    // Time for a fresh process to get ready again.
    await sleep(mode === 'fresh' ? 150 : 5 + Math.random() * 10);
  }
  const { rows } = await store.client.query<{ ms: number }>(
    `select extract(epoch from f.finished_at - j.created_at)::float8 * 1000 as ms
     from longshore.done f join longshore.job j using (shard, id) order by j.id`,
  );
  return percentile(
    rows.slice(WARMUP).map(({ ms }) => ms),
    0.5,
  );
}
