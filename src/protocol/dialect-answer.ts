import { z } from 'zod';
import {
  codeInSeed004,
  DEAD_LETTERED,
  PRIORITY_WORDS,
  priorityWord,
  type PriorityWord,
  SHOUTED,
  statusIn,
} from '../core/dialect.ts';
import type { JobView } from '../core/job.ts';

/**
 * Jobs in the words of the seeds. These objects are closed, unlike all other answers: what seed 001
 * says must never be shown is not shown, also by a later release.
 */
const Moment = z.iso.datetime();

export const IntentAnswer = z.strictObject({
  jobId: z.string().describe('The id of the job, a UUID.'),
  status: z.enum(SHOUTED),
});

export const ObservedAnswer = z.strictObject({
  jobId: z.string(),
  jobType: z.string(),
  status: z.enum(SHOUTED),
  createdAt: Moment,
  updatedAt: Moment,
});

export const QueuedAnswer = z.strictObject({
  'job-id': z.string().describe('The id of the job, a UUID.'),
});

export const EnqueuedAnswer = z.strictObject({
  id: z.string().describe('The id of the job, a UUID.'),
  status: z.enum(DEAD_LETTERED),
});

export const RunnerJobAnswer = z.strictObject({
  id: z.string(),
  type: z.string(),
  status: z.enum(DEAD_LETTERED),
  priority: z.enum(Object.keys(PRIORITY_WORDS) as [PriorityWord, ...PriorityWord[]]),
  attempt: z.int().describe('How often it has been started.'),
  maxAttempts: z.int(),
  nextRunAt: Moment.nullable().describe('Not before this time.'),
  lockedUntil: Moment.nullable().describe('Until when the worker that runs it must be heard of.'),
  errorCode: z.string().nullable().describe('The latest failure.'),
  errorMessage: z.string().nullable(),
  createdAt: Moment,
  updatedAt: Moment,
});

export type ObservedAnswer = z.infer<typeof ObservedAnswer>;
export type RunnerJobAnswer = z.infer<typeof RunnerJobAnswer>;

export function observedAnswer(job: JobView): ObservedAnswer {
  return {
    jobId: job.jobId,
    jobType: job.definitionKey,
    status: statusIn(SHOUTED, job.status),
    createdAt: job.createdAt,
    updatedAt: job.updatedAt,
  };
}

export function runnerJobAnswer(job: JobView): RunnerJobAnswer {
  return {
    id: job.jobId,
    type: job.definitionKey,
    status: statusIn(DEAD_LETTERED, job.status),
    priority: priorityWord(job.priority),
    attempt: job.attempts,
    maxAttempts: job.maxAttempts,
    nextRunAt: job.runAt,
    lockedUntil: job.leaseExpiresAt,
    errorCode: job.error && codeInSeed004(job.error.code),
    errorMessage: job.error?.message ?? null,
    createdAt: job.createdAt,
    updatedAt: job.updatedAt,
  };
}
