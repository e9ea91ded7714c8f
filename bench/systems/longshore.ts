import { createLongshore, defineJob, type JobDefinition, Longshore } from '../../src/index.ts';
import { fileURLToPath } from 'node:url';
import { noop as commandNoop } from '../definitions/command.ts';
import { noop as freshNoop } from '../definitions/fresh.ts';
import { noop as processNoop } from '../definitions/process.ts';
import { noop as threadNoop } from '../definitions/thread.ts';
import { type Adapter, type Opened, notOpened, type OpenOptions, type Params } from './system.ts';

type Definition = JobDefinition<Params, null>;

/** What a producer names; the code is deployed. */
const deployedNoop: Definition = defineJob({
  key: 'noop-deployed',
  run: (_params: Params) => null,
});

interface Jobs {
  /** What the worker loads: definitions, or the file that has them. */
  jobs: readonly Definition[] | string;
  definitionFor(params: Params): Definition;
}

export const adapter: Adapter = {
  async prepare(databaseUrl) {
    const longshore = await createLongshore({
      databaseUrl,
      jobs: [processNoop],
      worker: false,
      logLevel: 'warn',
    });
    await longshore.stop();
  },
  async open(options: OpenOptions) {
    if (options.url.startsWith('http:')) {
      return options.role === 'worker' ? await openRemote(options) : openClient(options.url);
    }
    const deployed = options.isolation === 'deployed' ? await openDeployed(options) : {};
    const { jobs, definitionFor } = jobsOf(options);
    const longshore = await createLongshore({
      ...deployed,
      databaseUrl: options.url,
      jobs,
      concurrency: options.isolation === 'inline' ? 500 : 4,
      worker: options.role !== 'producer',
      webhookAllow: '127.0.0.0/8',
      logLevel: 'error',
    });
    return {
      enqueue: async (params) => await longshore.enqueue(definitionFor(params), params),
      enqueueMany: async (list) =>
        await longshore.enqueueMany(
          list.map((params) => ({ definition: definitionFor(params), params })),
        ),
      stop: async () => {
        await longshore.stop();
        if (options.isolation === 'deployed' && options.role === 'worker') {
          const { removePlaces } = await import('./longshore-deployed.ts');
          await removePlaces(options.url);
        }
      },
    };
  },
};

/** Deployed code, which older checkouts do not have. */
async function openDeployed({ role, url }: OpenOptions): Promise<object> {
  const { deployNoop, placesOf } = await import('./longshore-deployed.ts');
  if (role === 'producer') await deployNoop(url);
  return { ...placesOf(url), deployments: 'only' };
}

/** Workers over HTTP. Only their workloads load this code, which older checkouts do not have. */
async function openRemote(options: OpenOptions): Promise<Opened> {
  const { RemoteCalls } = await import('../../src/worker/remote/remote-calls.ts');
  const { RemoteQueue } = await import('../../src/worker/remote/remote-queue.ts');
  const { Worker } = await import('../../src/worker/worker.ts');
  const { systemClock } = await import('../../src/runtime/clock.ts');
  const { createLog } = await import('../../src/runtime/log.ts');
  const { key, workers: count } = options.remote ?? { key: null, workers: 1 };
  const calls = new RemoteCalls(options.url, key);
  const { jobs } = jobsOf(options);
  const workers = Array.from(
    { length: count },
    () =>
      new Worker({
        queue: new RemoteQueue(calls, systemClock),
        databaseUrl: null,
        jobs,
        host: 'bench',
        pid: process.pid,
        version: '0',
        slots: 500,
        leaseMs: 30_000,
        heartbeatMs: 10_000,
        pollMs: 1_000,
        drainMs: 1_000,
        cancelGraceMs: 1_000,
        logMaxBytes: 1_000_000,
        clock: systemClock,
        log: createLog('error'),
      }),
  );
  for (const worker of workers) await worker.start();
  const stop = async () => void (await Promise.all(workers.map(async (one) => await one.stop())));
  return { enqueue: notOpened, enqueueMany: notOpened, stop };
}

/** The SDK over HTTP, as applications use it: every call has an idempotency key. */
function openClient(url: string): Opened {
  const longshore = new Longshore({ url });
  return {
    enqueue: async (params) => await longshore.enqueue('noop', params),
    enqueueMany: notOpened,
    stop: async () => {},
  };
}

function jobsOf({ isolation, queues = 'one', awaits = false, handler }: OpenOptions): Jobs {
  const only = (definition: Definition, file: string): Jobs => ({
    jobs: fileURLToPath(new URL(`../definitions/${file}`, import.meta.url)),
    definitionFor: () => definition,
  });
  switch (isolation) {
    case 'inline':
      return queues === 'one' ? oneQueue(handler, awaits) : sixQueues(handler, queues === 'mixed');
    case 'process':
      return only(processNoop, 'process.ts');
    case 'fresh':
      return only(freshNoop, 'fresh.ts');
    case 'thread':
      return only(threadNoop, 'thread.ts');
    case 'deployed':
      // The worker process has no other definitions.
      return { jobs: 'deployed', definitionFor: () => deployedNoop };
    case 'command':
      return only(commandNoop as Definition, 'command.ts');
  }
}

function oneQueue(handler: OpenOptions['handler'], awaits: boolean): Jobs {
  const definition = awaits ? inlineAwaiting('noop', handler) : inline('noop', handler);
  return { jobs: [definition], definitionFor: () => definition };
}

/**
 * Four queues for 98 % of the jobs, and two for 1 % each. With `mixed`, one of these two has a
 * concurrency limit; the workload adds a webhook to the other.
 */
function sixQueues(handler: OpenOptions['handler'], mixed: boolean): Jobs {
  const ordinary = [0, 1, 2, 3].map((i) => inline(`ordinary-${i}`, handler));
  const limited = inline('limited', handler, mixed ? 10 : 0);
  const watched = inline('watched', handler);
  return {
    jobs: [...ordinary, limited, watched],
    definitionFor: ({ n }) => {
      if (n % 100 === 0) return limited;
      if (n % 100 === 50) return watched;
      return ordinary[n % ordinary.length] ?? watched;
    },
  };
}

function inline(key: string, handler: OpenOptions['handler'], concurrencyLimit = 0): Definition {
  return defineJob({
    key,
    isolation: 'inline',
    concurrencyLimit,
    run: (params: Params) => {
      void handler(params);
      return null;
    },
  });
}

function inlineAwaiting(key: string, handler: OpenOptions['handler']): Definition {
  return defineJob({
    key,
    isolation: 'inline',
    run: async (params: Params) => {
      await handler(params);
      return null;
    },
  });
}
