import type { Bench } from '../../harness/bench.ts';
import { CALLER_CPU, cpuMetrics, processes } from '../../harness/cpu.ts';
import { type Enqueued, enqueueRate } from '../enqueue.ts';
import type { Workload } from '../workload.ts';

/** The SDK over HTTP beside the SDK in the process: the same callers, one right after the other. */
export const sdks: readonly Workload[] = [
  sdkOf(1, 'One caller enqueues'),
  sdkOf(32, '32 callers in one process enqueue'),
];

function sdkOf(callers: number, who: string): Workload {
  return {
    name: `sdk-${callers}`,
    what:
      `${who} with the SDK over HTTP, which gives every call a request id, through a real ` +
      '`longshore api`; and in the process, without HTTP and without a key.',
    systems: ['longshore'],
    metrics: [
      { key: 'http', unit: 'jobs/s', better: 'more' },
      { key: 'in-process', unit: 'jobs/s', better: 'more' },
      { key: 'ratio', unit: '× in-process', better: 'more' },
      ...CALLER_CPU,
      ...cpuMetrics('cpu-api'),
    ],
    rounds: { full: 5, quick: 1 },
    seconds: { full: 16, quick: 6 },
    async measure(bench, system, round) {
      const early = round % 2 === 0 ? await overHttp(bench, system, callers) : undefined;
      const local = await inProcess(bench, system, callers);
      const http = early ?? (await overHttp(bench, system, callers));
      const ratio = http.perSecond / local.perSecond;
      return { http: http.perSecond, 'in-process': local.perSecond, ratio, ...http.cpu };
    },
  };
}

async function overHttp(bench: Bench, system: string, callers: number): Promise<Enqueued> {
  await using database = await bench.database(system);
  await using server = await bench.server(system, 'api', database.url);
  const url = `http://127.0.0.1:${server.port}`;
  return await enqueueRate(
    bench,
    system,
    { url, callers },
    {
      'cpu-server': database.cpuSeconds,
      'cpu-api': processes([server]),
    },
  );
}

async function inProcess(bench: Bench, system: string, callers: number): Promise<Enqueued> {
  await using database = await bench.database(system);
  return await enqueueRate(bench, system, { url: database.url, callers }, {});
}
