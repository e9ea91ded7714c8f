import { z } from 'zod';
import {
  codeInSeed004,
  SEED_004_STATUSES,
  PRIORITY_WORDS,
  priorityWord,
  type PriorityWord,
  SEED_001_STATUSES,
  statusIn,
} from '../../core/views/dialect.ts';
import type { JobError, JobView } from '../../core/job/job.ts';
import type { AttemptView } from '../../core/views/history.ts';

/**
 * Jobs in the formats of the seeds. These objects are closed, unlike all other responses: what seed
 * 001 forbids to show must not appear in later releases either.
 */
const Moment = z.iso.datetime();

export const IntentAnswer = z.strictObject({
  jobId: z.string().describe('The id of the job, a UUID.'),
  status: z.enum(SEED_001_STATUSES),
});

export const ObservedAnswer = z.strictObject({
  jobId: z.string(),
  jobType: z.string(),
  status: z.enum(SEED_001_STATUSES),
  createdAt: Moment,
  updatedAt: Moment,
});

export const QueuedAnswer = z.strictObject({
  'job-id': z.string().describe('The id of the job, a UUID.'),
});

export const EnqueuedAnswer = z.strictObject({
  id: z.string().describe('The id of the job, a UUID.'),
  status: z.enum(SEED_004_STATUSES),
});

/** Seed 004: "Every attempt records timing, duration, error codes". */
const RunnerAttempt = z.strictObject({
  attempt: z.int().describe('The first attempt is 1.'),
  startedAt: Moment,
  finishedAt: Moment.nullable().describe('Null while it runs.'),
  durationMs: z.int().nullable(),
  errorCode: z
    .string()
    .nullable()
    .describe('JOB_LOCK_TIMEOUT_RECLAIMED for an attempt whose worker was lost.'),
  errorMessage: z.string().nullable(),
});

export const RunnerJobAnswer = z.strictObject({
  id: z.string(),
  type: z.string(),
  status: z.enum(SEED_004_STATUSES),
  priority: z.enum(Object.keys(PRIORITY_WORDS) as [PriorityWord, ...PriorityWord[]]),
  attempt: z.int().describe('Number of attempts started.'),
  maxAttempts: z.int(),
  nextRunAt: Moment.nullable().describe('Earliest time to run.'),
  lockedUntil: Moment.nullable().describe('End of the lease.'),
  errorCode: z
    .string()
    .nullable()
    .describe('The latest error. Kept when a later attempt runs or succeeds.'),
  errorMessage: z.string().nullable(),
  attempts: z.array(RunnerAttempt).describe('Oldest first; at most the latest 1,000.'),
  createdAt: Moment,
  updatedAt: Moment,
});

export type ObservedAnswer = z.infer<typeof ObservedAnswer>;
export type RunnerJobAnswer = z.infer<typeof RunnerJobAnswer>;

export function observedAnswer(job: JobView): ObservedAnswer {
  return {
    jobId: job.jobId,
    jobType: job.definitionKey,
    status: statusIn(SEED_001_STATUSES, job.status),
    createdAt: job.createdAt,
    updatedAt: job.updatedAt,
  };
}

export function runnerJobAnswer(job: JobView, attempts: readonly AttemptView[]): RunnerJobAnswer {
  const error = job.error ?? attempts.findLast((attempt) => attempt.error)?.error ?? null;
  return {
    id: job.jobId,
    type: job.definitionKey,
    status: statusIn(SEED_004_STATUSES, job.status),
    priority: priorityWord(job.priority),
    attempt: job.attempts,
    maxAttempts: job.maxAttempts,
    nextRunAt: job.runAt,
    lockedUntil: job.leaseExpiresAt,
    ...errorIn(error),
    attempts: attempts.map((attempt) => ({
      attempt: attempt.number,
      startedAt: attempt.startedAt,
      finishedAt: attempt.finishedAt,
      durationMs: attempt.durationMs,
      ...errorIn(attempt.error),
    })),
    createdAt: job.createdAt,
    updatedAt: job.updatedAt,
  };
}

function errorIn(error: JobError | null) {
  return {
    errorCode: error && codeInSeed004(error.code),
    errorMessage: error?.message ?? null,
  };
}
