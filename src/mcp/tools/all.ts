import type { Tool } from '../tool.ts';
import { cancelJob, retryFailures, retryJob, signalJob } from './change-jobs.ts';
import { definitionLog } from './definition-log.ts';
import { enqueueJob } from './enqueue-job.ts';
import { explainJob } from './explain-job.ts';
import { findFailures } from './find-failures.ts';
import { jobLog } from './job-log.ts';
import { listDefinitions } from './list-definitions.ts';
import { listJobs } from './list-jobs.ts';
import { listWorkers } from './list-workers.ts';
import { overview } from './overview.ts';
import { listSchedules, pauseSchedule, resumeSchedule, runSchedule } from './schedules.ts';

/** All tools, in the order in which they are listed. docs/operate/mcp.md has the same table. */
export const TOOLS: readonly Tool[] = [
  overview,
  findFailures,
  explainJob,
  jobLog,
  definitionLog,
  listJobs,
  listDefinitions,
  listSchedules,
  listWorkers,
  retryJob,
  retryFailures,
  cancelJob,
  signalJob,
  enqueueJob,
  runSchedule,
  pauseSchedule,
  resumeSchedule,
];
