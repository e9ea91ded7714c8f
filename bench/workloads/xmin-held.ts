import type { Bench } from '../harness/bench.ts';
import { drain, type Drained, fill } from './drain.ts';
import { measurePair, PAIR_METRICS } from './pair.ts';
import { ON_POSTGRES, type Workload } from './workload.ts';

export const xminHeld: Workload = {
  name: 'xmin-held',
  what:
    'One worker drains 60,000 jobs while a forgotten transaction keeps vacuum from removing ' +
    'anything, and without it.',
  systems: ON_POSTGRES,
  metrics: PAIR_METRICS,
  rounds: { full: 5, quick: 1 },
  seconds: { full: 20, quick: 7 },
  async measure(bench, system, round) {
    return await measurePair(
      round,
      async () => await drainMany(bench, system, false),
      async () => await drainMany(bench, system, true),
    );
  },
};

async function drainMany(bench: Bench, system: string, held: boolean): Promise<Drained> {
  const jobs = bench.jobs(60_000, 8_000);
  await using database = await bench.database(system);
  await fill(bench, system, database.url, jobs);
  if (held) {
    await using holder = await database.connect();
    await holder.client.query('begin isolation level repeatable read');
    await holder.client.query('select count(*) from pg_class');
    return await drain(bench, system, database, { jobs });
  }
  return await drain(bench, system, database, { jobs });
}
