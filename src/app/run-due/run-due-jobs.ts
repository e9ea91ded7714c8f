import { ConfigError } from '../../config/error.ts';
import { configOf } from '../../config/options.ts';
import {
  RUN_DUE_DEFAULTS,
  type RunDueBudget,
  type RunDueSummary,
} from '../../core/queue/run-due.ts';
import { createLog } from '../../runtime/log.ts';
import { refuseOldNode } from '../../runtime/node-version.ts';
import type { InProcessOptions } from '../in-process.ts';
import { refuseUnrunnable } from '../refuse-unrunnable.ts';
import { runDueApp } from './run-due-app.ts';

export interface RunDueJobsOptions
  extends Omit<InProcessOptions, 'worker' | 'redisUrl' | 'redisLeaseMs'>, Partial<RunDueBudget> {}

const OTHERS = ['jobs', 'max', 'seconds'];

/** `longshore run-due` as a function: for a timer of a platform without running processes. */
export async function runDueJobsApp(options: RunDueJobsOptions): Promise<RunDueSummary> {
  refuseOldNode();
  const { jobs, max = RUN_DUE_DEFAULTS.max, seconds = RUN_DUE_DEFAULTS.seconds } = options;
  const { logLevel = 'warn', logJobs = 'off' } = options;
  // The application trusts its own code, so it decides whether jobs run inline.
  const config = configOf({ ...options, logLevel, logJobs, inlineJobs: 'always' }, OTHERS);
  if (!Number.isInteger(max) || max < 1) {
    throw new ConfigError(['max must be a whole number of jobs, at least 1']);
  }
  if (typeof seconds !== 'number' || !(seconds >= 0)) {
    throw new ConfigError(['seconds must be a number, at least 0']);
  }
  if (jobs !== undefined && typeof jobs !== 'string') refuseUnrunnable(jobs);
  return await runDueApp(config, createLog(config.logLevel), { max, seconds }, jobs ?? config.jobs);
}
