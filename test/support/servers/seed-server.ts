import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { type EnqueueOptions, Longshore } from '../../../src/client/index.ts';
import type { JobView } from '../../../src/core/job/job.ts';
import { jobInState } from '../api.ts';
import { claimAny, newWorker } from '../jobs.ts';
import { endAll, FIXTURES, launch, type Running } from '../processes.ts';
import { until } from '../until.ts';
import { sharedDatabase, type TestDatabase } from './database.ts';

export interface SeedServer {
  database: TestDatabase;
  running: Running;
  client: Longshore;
  /** One request, as curl sends it. */
  call(method: string, path: string, body?: unknown): Promise<{ status: number; body: Body }>;
  /** Enqueues with the SDK and answers with the id. */
  start(definitionKey: string, params?: object, options?: EnqueueOptions): Promise<string>;
  job(jobId: string, ...states: string[]): Promise<JobView>;
  /** Starts a job that runs until it is cancelled. */
  busy(definitionKey: string, options?: EnqueueOptions): Promise<JobView>;
  /** A job whose worker is lost, after the server has noticed. */
  reclaimed(): Promise<JobView>;
}
// oxlint-disable-next-line typescript/no-explicit-any -- Each test says what it expects of it.
type Body = any;

/** A whole server, as `longshore start` runs it, for the tests of one seed. */
export function seedServer(): SeedServer {
  const database = sharedDatabase();
  const server = { database } as SeedServer;
  let address = '';
  beforeAll(async () => {
    const env = {
      DATABASE_URL: database.url,
      LONGSHORE_JOBS: join(FIXTURES, 'seeds'),
      LONGSHORE_HEARTBEAT_MS: '300',
      LONGSHORE_POLL_MS: '200',
      LONGSHORE_DRAIN_MS: '1000',
      LONGSHORE_WEBHOOK_ALLOW: '127.0.0.0/8',
      // As seed 000 names them.
      MAX_CONCURRENT_EXECUTIONS: '5',
      CANCEL_GRACE_MS: '700',
    };
    server.running = await launch('start', { env });
    ({ address } = server.running.summary);
    server.client = new Longshore({ url: address });
  });
  afterAll(endAll);

  server.call = async (method, path, body) => {
    const response = await fetch(`${address}${path}`, {
      method,
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json');
    return { status: response.status, body: isJson ? JSON.parse(text) : text };
  };
  server.job = async (jobId, ...states) => await jobInState(address, jobId, ...states);
  server.start = async (...job) => (await server.client.enqueue(...job)).id;
  server.busy = async (definitionKey, options) =>
    await server.job(await server.start(definitionKey, {}, options), 'running');
  server.reclaimed = async () => {
    const jobId = await server.start('of.a.lost.worker');
    const worker = await newWorker(database);
    const claimed = await claimAny(database, worker, 1);
    if (claimed[0]?.id !== jobId) throw new Error('claimed another job');
    const expire = `update longshore.worker set lease_until = now() where instance = $1`;
    await database.sql(expire, [worker]);
    return await until('it is reclaimed', async () => {
      const job = await server.client.get(jobId);
      return job.status === 'queued' && job;
    });
  };
  return server;
}
