import type { Config } from '../../config/config.ts';
import type { Log } from '../../runtime/log.ts';
import type { Base } from '../assemble.ts';
import { localWorker } from '../local-worker.ts';
import { startReport, type WorkerRole } from '../worker-child.ts';
import { type App, type Parts, startRole, summary } from './start-role.ts';

/** A worker without the code of the API, which would be half of its memory. */
export async function startWorker(
  config: Config,
  role: WorkerRole,
  log: Log,
  signal?: AbortSignal,
): Promise<App> {
  return await startRole(config, false, log, (base) => workerParts(base, role, log), signal);
}

export function workerParts({ db, waker, config }: Base, role: WorkerRole, log: Log): Parts {
  const schedules = role === 'worker';
  const { worker, services, drainAsked } = localWorker(db, waker, config, log, schedules);
  return {
    drainAsked,
    services,
    summary: () => summary({ worker: { ...startReport(worker), slots: config.concurrency } }),
  };
}
