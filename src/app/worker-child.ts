import { fileURLToPath } from 'node:url';
import type { Config } from '../config/config.ts';
import { ChildService } from '../runtime/processes/child-service.ts';
import type { Log } from '../runtime/log.ts';

export interface WorkerSummary {
  definitions: { key: string; version: number }[];
  problems: string[];
  slots: number;
}

/** The worker of `start`; `worker-process.ts` is the child's side. */
export interface WorkerReady {
  worker: WorkerSummary;
}

export function workerProcess(config: Config, log: Log): ChildService<WorkerReady> {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new ChildService({
    name: 'worker',
    entry: fileURLToPath(new URL(`./worker-process.${extension}`, import.meta.url)),
    message: { config },
    environment: config.runnerEnv,
    log,
    stopMs: config.drainMs + 15_000,
  });
}
