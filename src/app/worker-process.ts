import { startWorker } from './roles/worker-role.ts';
import type { Config } from '../config/config.ts';
import { serveAsChild } from '../runtime/processes/child-service.ts';
import { createLog } from '../runtime/log.ts';
import { lineTextOf } from '../signals/log-text.ts';
import type { WorkerReady, WorkerRole } from './worker-child.ts';

/** The worker process of `longshore start` and of an application with Longshore inside. */
serveAsChild<{ config: Config; role: WorkerRole }, WorkerReady>(async (message, stopping) => {
  const { config, role } = message;
  const log = createLog(config.logLevel, {}, lineTextOf(config.logFormat));
  const app = await startWorker(config, role, log, stopping);
  const { definitions, problems, slots } = app.summary;
  return {
    ready: { worker: { definitions, problems, slots: slots ?? 0 } },
    stop: async () => await app.stop(),
    leaves: app.drainAsked,
  };
});
