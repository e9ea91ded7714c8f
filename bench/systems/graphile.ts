import { Logger, makeWorkerUtils, run, runMigrations } from 'graphile-worker';
import { notOpened, type Adapter, type OpenOptions, type Opened, type Params } from './system.ts';

const logger = new Logger(() => () => {});
const identifier = 'noop';

/** https://worker.graphile.org/docs/performance publishes the first two; `max` was searched for. */
const PRESETS: Record<string, GraphileConfig.WorkerOptions> = {
  graphile: { concurrentJobs: 24, maxPoolSize: 25 },
  'graphile-docs': {
    concurrentJobs: 24,
    maxPoolSize: 25,
    localQueue: { size: 500 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
  },
  'graphile-max': {
    concurrentJobs: 50,
    maxPoolSize: 25,
    localQueue: { size: 2_000 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
  },
};

export const adapter: Adapter = {
  async prepare(url) {
    await runMigrations({ connectionString: url, logger });
  },
  async open(options) {
    return options.role === 'producer'
      ? await openProducer(options.url)
      : await openWorker(options);
  },
};

async function openProducer(url: string): Promise<Opened> {
  const utils = await makeWorkerUtils({ connectionString: url, logger });
  return {
    enqueue: async (params) => await utils.addJob(identifier, params),
    enqueueMany: async (list) =>
      await utils.addJobs(list.map((payload) => ({ identifier, payload }))),
    stop: async () => await utils.release(),
  };
}

async function openWorker({ system, url, handler }: OpenOptions): Promise<Opened> {
  const runner = await run({
    preset: { worker: { ...PRESETS[system], connectionString: url, logger } },
    taskList: { [identifier]: (payload) => handler(payload as Params) },
    parsedCronItems: [],
    noHandleSignals: true,
  });
  return { enqueue: notOpened, enqueueMany: notOpened, stop: async () => await runner.stop() };
}
