import { hostname } from 'node:os';
import type { Config } from '../config/config.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { persist } from '../runtime/persist.ts';
import { loadTracing } from '../signals/load-tracing.ts';
import { VERSION } from '../version.ts';
import { RemoteCalls } from '../worker/remote/remote-calls.ts';
import { RemoteQueue } from '../worker/remote/remote-queue.ts';
import { Worker } from '../worker/worker.ts';
import type { App } from './app.ts';
import { remoteDeployments } from './remote-deployments.ts';

/** The server of a worker without a database connection. */
export interface RemoteServer {
  url: string;
  key: string | null;
}

/** Starts a worker over HTTP. It waits for a server that cannot be reached. */
export async function startRemoteWorker(
  config: Config,
  { url, key }: RemoteServer,
  log: Log,
  signal: AbortSignal = new AbortController().signal,
): Promise<App> {
  await loadTracing(config.tracing);
  const calls = new RemoteCalls(url, key);
  const deployments = config.deployments === 'only' || config.deployments === 'also';
  const queue = new RemoteQueue(calls, systemClock, { deployments });
  const asked = Promise.withResolvers<void>();
  const worker = new Worker({
    ...config,
    publicUrl: config.publicUrl ?? url,
    ...(config.deployments === 'only' && { jobs: [] }),
    deploymentSource: deployments ? remoteDeployments(calls, queue, config) : null,
    queue,
    databaseUrl: null,
    beating: null,
    slots: config.concurrency,
    host: hostname(),
    pid: process.pid,
    version: VERSION,
    clock: systemClock,
    log,
    onDrain: asked.resolve,
    // The runners stay, and one warning says why it waits.
    persist: async (register) => {
      await persist(register, { what: `the registration at ${url}`, log, signal });
      log.info({ url }, 'registered');
    },
  });
  const begin = async () => {
    signal.throwIfAborted();
    await worker.start().catch(async (error: unknown) => {
      await worker.stop().catch(() => undefined);
      throw error;
    });
  };
  await persist(begin, { what: 'the start of the worker', log, signal });
  const { definitions, problems, warnings = [] } = worker.report;
  return {
    summary: {
      database: `none: jobs come from ${url}`,
      address: null,
      definitions: definitions.map((one) => ({ key: one.key, version: one.version })),
      problems: [...problems, ...warnings],
      slots: config.concurrency,
    },
    drainAsked: asked.promise,
    stop: async () => {
      await worker.stop();
      calls.close();
    },
  };
}
