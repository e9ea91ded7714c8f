import { join } from 'node:path';
import { nowMs, sleep } from '../harness/clock.ts';
import { cpuSecondsOf, isPostgres, memoryMbOf, treeOf } from '../servers/processes.ts';
import type { Workload } from './workload.ts';

/** Long enough for the work after the start: partitions, first roll-ups, warm runners. */
const SETTLE_MS = 15_000;

export const idle: Workload = {
  name: 'idle',
  what:
    'A real `longshore start` without jobs, with its own PostgreSQL: memory (PSS) and CPU of its ' +
    'Node processes and of PostgreSQL, as a part of one core.',
  systems: ['longshore'],
  metrics: [
    { key: 'pss', unit: 'MB', better: 'less' },
    { key: 'pss-postgres', unit: 'MB', better: 'less' },
    { key: 'pss-all', unit: 'MB', better: 'less' },
    { key: 'cpu', unit: '% of a core', better: 'less' },
    { key: 'cpu-postgres', unit: '% of a core', better: 'less' },
    { key: 'cpu-all', unit: '% of a core', better: 'less' },
  ],
  rounds: { full: 2, quick: 1 },
  seconds: { full: 50, quick: 30 },
  async measure(bench, system, round) {
    const definitions = bench.checkout(system).definitionFile('process.ts');
    const data = join(bench.folder, `idle-${system}-${round}`);
    const flags = ['--jobs', definitions, '--data', data];
    await using server = await bench.server(system, 'start', null, flags);
    await sleep(SETTLE_MS);
    const postmaster = treeOf(server.pid).find(isPostgres);
    if (postmaster === undefined) throw new Error('its PostgreSQL was not found');
    const cpu = () => [cpuSecondsOf(server.pid), cpuSecondsOf(postmaster)] as const;
    const [fromMs, from] = [nowMs(), cpu()];
    await sleep(bench.size(30_000, 10_000));
    const [toMs, to] = [nowMs(), cpu()];
    const postgres = to[1] - from[1];
    const percent = 100 / ((toMs - fromMs) / 1_000);
    const memory = treeOf(server.pid).map((pid) => ({ pid, mb: memoryMbOf(pid).pss }));
    const sumOf = (list: typeof memory) => list.reduce((sum, { mb }) => sum + mb, 0);
    return {
      pss: sumOf(memory.filter(({ pid }) => !isPostgres(pid))),
      'pss-postgres': sumOf(memory.filter(({ pid }) => isPostgres(pid))),
      'pss-all': sumOf(memory),
      cpu: (to[0] - from[0] - postgres) * percent,
      'cpu-postgres': postgres * percent,
      'cpu-all': (to[0] - from[0]) * percent,
    };
  },
};
