import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { nowMs, sleep } from '../../harness/clock.ts';
import { processes } from '../../harness/cpu.ts';
import type { Workload } from '../workload.ts';

/** Longer than a waiting turn: the calls of the start are over. */
const SETTLE_MS = 60_000;

/** What remote workers cost that have nothing to do. */
export const remoteIdle: Workload = {
  name: 'remote-idle',
  what:
    '1,000 workers over HTTP, all in one process and with a key, wait for jobs of one definition: ' +
    'CPU of `longshore api` and of PostgreSQL, as a part of one core.',
  systems: ['longshore'],
  metrics: [
    { key: 'cpu-api', unit: '% of a core', better: 'less' },
    { key: 'cpu-server', unit: '% of a core', better: 'less' },
    { key: 'cpu-workers', unit: '% of a core', better: 'less' },
  ],
  rounds: { full: 2, quick: 1 },
  seconds: { full: 125, quick: 45 },
  async measure(bench, system) {
    await using database = await bench.database(system);
    const create = ['keys', 'create', '--scope', 'admin,worker', '--name', 'bench'];
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [bench.checkout(system).program, ...create],
      { env: { ...process.env, DATABASE_URL: database.url } },
    );
    await using server = await bench.server(system, 'api', database.url);
    const url = `http://127.0.0.1:${server.port}`;
    const remote = { key: stdout.trim(), workers: bench.jobs(1_000, 1_000) };
    await using workers = await bench.open({ system, url, role: 'worker', remote });
    await sleep(bench.size(SETTLE_MS, 20_000));
    const cpu = [processes([server]), database.cpuSeconds, processes([workers])];
    const [fromMs, from] = [nowMs(), cpu.map((read) => read())];
    await sleep(bench.size(60_000, 20_000));
    const percent = 100 / ((nowMs() - fromMs) / 1_000);
    const [api = 0, postgres = 0, own = 0] = cpu.map(
      (read, i) => (read() - (from[i] ?? 0)) * percent,
    );
    return { 'cpu-api': api, 'cpu-server': postgres, 'cpu-workers': own };
  },
};
