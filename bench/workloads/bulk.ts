import { CALLER_CPU, cpuPerJob, processes, readCpu } from '../harness/cpu.ts';
import { PRODUCERS, type Workload } from './workload.ts';

/** Of 500 to 20,000, no system is faster with larger batches, and all are near their best here. */
export const BULK_SIZE = 1_000;

export const bulk: Workload = {
  name: 'bulk',
  what:
    '20,000 jobs added through the bulk call of each system in batches of 1,000: one batch after ' +
    'the other, and two at a time.',
  systems: PRODUCERS,
  metrics: [
    { key: '', unit: 'jobs/s', better: 'more' },
    { key: 'two-at-a-time', unit: 'jobs/s', better: 'more' },
    ...CALLER_CPU,
  ],
  rounds: { full: 5, quick: 1 },
  seconds: { full: 5, quick: 2 },
  async measure(bench, system) {
    await using store = await bench.store(system);
    await using agent = await bench.open({ system, url: store.url, role: 'producer' });
    const rate = async (jobs: number, inFlight: number): Promise<number> =>
      (jobs / (await agent.call('enqueueBulk', jobs, BULK_SIZE, inFlight))) * 1_000;
    // A process that has just started is not what bulk means: the code gets warm first.
    await rate(2 * BULK_SIZE, 2);
    const jobs = bench.size(20_000, 8_000);
    const consumers = { 'cpu-caller': processes([agent]), 'cpu-server': store.cpuSeconds };
    const before = readCpu(consumers);
    const one = await rate(jobs, 1);
    const two = await rate(jobs, 2);
    const cpu = cpuPerJob(before, readCpu(consumers), 2 * jobs);
    await agent.stop();
    return { '': one, 'two-at-a-time': two, ...cpu };
  },
};
