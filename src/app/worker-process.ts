import { startApp } from './app.ts';
import type { Config } from '../config/config.ts';
import { serveAsChild } from '../runtime/processes/child-service.ts';
import { createLog } from '../runtime/log.ts';
import type { WorkerReady } from './worker-child.ts';

/** The worker process of `longshore start`. */
serveAsChild<{ config: Config }, WorkerReady>(async ({ config }, stopping) => {
  const app = await startApp(config, 'worker', createLog(config.logLevel), stopping);
  const { definitions, problems, slots } = app.summary;
  return {
    ready: { worker: { definitions, problems, slots: slots ?? 0 } },
    stop: async () => await app.stop(),
    leaves: app.drainAsked,
  };
});
