import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { httpLoad } from '../agent/http-load.ts';
import { sleep } from '../harness/clock.ts';
import { cpuPerJob, processes, readCpu } from '../harness/cpu.ts';
import type { Postgres } from '../servers/postgres.ts';
import { memoryMbOf, treeOf } from '../servers/processes.ts';
import { difference, footprint, type Footprint } from './footprint.ts';
import { type Jobs, Rig } from './rig.ts';

const WARM_UP = 2_000;
const CONNECTIONS = 32;

/** Per job: microseconds of CPU, commits, bytes of WAL and bytes on disk. */
export interface Cost extends Footprint {
  serverUs: number;
  workerUs: number;
}

/**
 * A queue is filled while its definition is paused, then drained: the largest batches. Enqueueing is
 * measured in the same run.
 */
export async function drainCost(
  postgres: Postgres,
  jobs: Jobs,
  { concurrency = 500, webhook = false, warmUp = WARM_UP } = {},
): Promise<{ enqueue: Cost; work: Cost }> {
  await using rig = await Rig.open(postgres);
  await using receiver = await startReceiver();
  const pid = await rig.worker(concurrency);
  if (webhook) {
    const url = `http://127.0.0.1:${receiver.port}/`;
    await rig.post('/v1/webhooks', { url, events: ['job.succeeded'], definitionKeys: [jobs.key] });
  }
  await rig.enqueue({ ...jobs, count: warmUp, options: shifted(jobs.options, jobs.count) });
  await rig.drained();
  await rig.post(`/v1/definitions/${jobs.key}/pause`);
  await sleep(500);
  const { client } = rig.database;
  const consumers = { worker: processes([{ pid }]), server: rig.database.cpuSeconds };
  const bytes = [await footprint(client)];
  const cpu = [readCpu(consumers)];
  await rig.enqueue(jobs);
  cpu.push(readCpu(consumers));
  bytes.push(await footprint(client));
  cpu.push(readCpu(consumers));
  await rig.post(`/v1/definitions/${jobs.key}/resume`);
  await rig.drained();
  await sleep(1_500);
  cpu.push(readCpu(consumers));
  bytes.push(await footprint(client));
  const part = (from: number, at: number): Cost => {
    const used = cpuPerJob(cpu[from]!, cpu[from + 1]!, jobs.count);
    const added = difference(bytes[at]!, bytes[at + 1]!, jobs.count);
    return { serverUs: used['server']!, workerUs: used['worker']!, ...added };
  };
  return { enqueue: part(0, 0), work: part(2, 1) };
}

function shifted(options: Jobs['options'], by: number): NonNullable<Jobs['options']> {
  return (n) => options?.(by + n) ?? {};
}

export interface Steady {
  serverUs: number;
  workerUs: number;
  apiUs: number;
  commits: number;
  walBytes: number;
}

/** One job after the other comes at a steady rate over HTTP, to one API and some workers. */
export async function steadyCost(
  postgres: Postgres,
  { perSecond, seconds, workers }: { perSecond: number; seconds: number; workers: number },
): Promise<Steady> {
  await using rig = await Rig.open(postgres);
  const pids: { pid: number }[] = [];
  while (pids.length < workers) pids.push({ pid: await rig.worker(500) });
  const load = {
    port: rig.api.port,
    connections: CONNECTIONS,
    path: '/v1/jobs',
    jobsPerRequest: 1,
    definitionKey: 'short',
    perSecond,
  };
  await httpLoad({ ...load, seconds: 3 });
  if (workers > 0) await rig.drained();
  const consumers = {
    server: rig.database.cpuSeconds,
    api: processes([rig.api]),
    worker: processes(pids),
  };
  const before = readCpu(consumers);
  const from = await footprint(rig.database.client);
  const { jobs } = await httpLoad({ ...load, seconds });
  if (workers > 0) await rig.drained();
  const used = cpuPerJob(before, readCpu(consumers), jobs);
  const { commits, walBytes } = await reportedSince(rig, from, jobs);
  return {
    serverUs: used['server']!,
    workerUs: used['worker']!,
    apiUs: used['api']!,
    commits,
    walBytes,
  };
}

/** API calls as fast as they are answered, with so many jobs each. */
export async function apiCost(
  postgres: Postgres,
  jobsPerRequest: number,
): Promise<Omit<Steady, 'workerUs'> & { perSecond: number }> {
  await using rig = await Rig.open(postgres);
  const load = {
    port: rig.api.port,
    connections: jobsPerRequest === 1 ? CONNECTIONS : 2,
    path: jobsPerRequest === 1 ? '/v1/jobs' : '/v1/jobs/batch',
    jobsPerRequest,
    definitionKey: 'short',
  };
  await httpLoad({ ...load, seconds: 2 });
  const consumers = { server: rig.database.cpuSeconds, api: processes([rig.api]) };
  const before = readCpu(consumers);
  const from = await footprint(rig.database.client);
  const { jobs, seconds } = await httpLoad({ ...load, seconds: 5 });
  const used = cpuPerJob(before, readCpu(consumers), jobs);
  const { commits, walBytes } = await reportedSince(rig, from, jobs);
  const perSecond = jobs / seconds;
  return { serverUs: used['server']!, apiUs: used['api']!, perSecond, commits, walBytes };
}

/** A connection reports its commits a second later. */
async function reportedSince(rig: Rig, from: Footprint, jobs: number): Promise<Footprint> {
  const { walBytes } = difference(from, await footprint(rig.database.client), jobs);
  await sleep(2_000);
  return { ...difference(from, await footprint(rig.database.client), jobs), walBytes };
}

/** A worker without jobs: cores of it and of the server, memory, and connections. */
export async function idleCost(
  postgres: Postgres,
  seconds: number,
): Promise<{ workerCores: number; serverCores: number; workerMb: number; connections: number }> {
  await using rig = await Rig.open(postgres);
  const count = async () => {
    const { rows } = await rig.database.client.query<{ n: string }>(
      'select count(*) as n from pg_stat_activity where datname = current_database()',
    );
    return Number(rows[0]?.n);
  };
  await sleep(3_000);
  const alone = { server: rig.database.cpuSeconds };
  const empty = readCpu(alone);
  await sleep(seconds * 1_000);
  const withoutUs = cpuPerJob(empty, readCpu(alone), seconds)['server']!;
  const connectionsBefore = await count();
  const pid = await rig.worker(500);
  await sleep(5_000);
  const consumers = { ...alone, worker: processes([{ pid }]) };
  const before = readCpu(consumers);
  await sleep(seconds * 1_000);
  const used = cpuPerJob(before, readCpu(consumers), seconds);
  return {
    workerCores: used['worker']! / 1e6,
    serverCores: (used['server']! - withoutUs) / 1e6,
    workerMb: treeOf(pid).reduce((sum, one) => sum + memoryMbOf(one).pss, 0),
    connections: (await count()) - connectionsBefore,
  };
}

/** Memory of one more warm process for jobs. */
export async function processMb(postgres: Postgres): Promise<number> {
  const memoryWith = async (concurrency: number) => {
    await using rig = await Rig.open(postgres);
    const pid = await rig.worker(concurrency);
    await rig.enqueue({ key: 'process', count: 400 });
    await rig.drained();
    await sleep(1_000);
    return treeOf(pid).reduce((sum, one) => sum + memoryMbOf(one).pss, 0);
  };
  const [few, many] = [await memoryWith(2), await memoryWith(10)];
  return (many - few) / 8;
}

interface Receiver extends AsyncDisposable {
  port: number;
}

/** Answers every delivery with 204. */
async function startReceiver(): Promise<Receiver> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
