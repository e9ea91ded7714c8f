import type { Config } from '../config/config.ts';
import { programFile } from '../runtime/code.ts';
import { ChildService, type Death } from '../runtime/processes/child-service.ts';
import type { Log } from '../runtime/log.ts';
import type { RunnerReport } from '../worker/runners/runner.ts';

export interface WorkerSummary {
  definitions: { key: string; version: number }[];
  problems: string[];
  slots: number;
}

/** What a worker reports at its start: problems of files, and of the machine. */
export function startReport({ report }: { report: RunnerReport }): Omit<WorkerSummary, 'slots'> {
  const { definitions, problems, warnings = [] } = report;
  return { definitions, problems: [...problems, ...warnings] };
}

/** The worker of `start` leaves the work of schedulers to its parent, and ends with it. */
export type WorkerRole = 'worker' | 'worker-of-start';

/** A worker in a process of its own; `worker-process.ts` is the child's side. */
export interface WorkerReady {
  worker: WorkerSummary;
}

export function workerProcess(
  config: Config,
  log: Log,
  role: WorkerRole = 'worker',
  onDeath?: (death: Death) => void,
): ChildService<WorkerReady> {
  return new ChildService({
    name: 'worker',
    entry: programFile('app/worker-process'),
    message: { config, role },
    environment: config.runnerEnv,
    log,
    stopMs: config.drainMs + 15_000,
    onDeath,
  });
}
