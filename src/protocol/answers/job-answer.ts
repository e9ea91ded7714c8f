import { z } from 'zod';
import { UNSEARCHED } from '../../core/search/unsearched.ts';
import { type JobError, JOB_STATES, type JobView } from '../../core/job/job.ts';

/**
 * Jobs as the API returns them. The objects are open: later releases may add fields. `satisfies`
 * keeps these shapes equal to the types of `core`.
 */
const Moment = z.iso.datetime();
const status = z.enum(JOB_STATES).describe('State of the job.');
const none = z.undefined().optional();
const jobId = z.string().describe('The id of the job, a UUID.');

export const JobIdParams = z.object({
  jobId: z
    .string()
    .describe('The id returned by POST /v1/jobs.')
    .meta({ examples: ['0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400'] }),
});

export const JobErrorAnswer: z.ZodType<JobError> = z
  .looseObject({
    code: z.string().describe('Error code.'),
    message: z.string(),
    stack: z.string().nullable(),
    get cause() {
      return JobErrorAnswer.nullable();
    },
    step: z
      .looseObject({
        name: z.string(),
        durationMs: z.number(),
        untilEndMs: z.number().describe('From its start to the end of the attempt.'),
      })
      .optional()
      .describe('The step that threw, or that ran when the attempt was ended.'),
  })
  .meta({ id: 'JobError', description: 'Error of an attempt or job.' });

const Large = z.looseObject({ bytes: z.int().describe('Size of the JSON.') }).optional();

export const JobAnswer = z
  .looseObject({
    jobId,
    definitionKey: z.string(),
    definitionVersion: z.int(),
    tenant: z.string(),
    owner: z.string().nullable().describe('Owner of the definition.'),
    status,
    priority: z.int(),
    attempts: z.int().describe('Number of attempts started.'),
    maxAttempts: z.int(),
    tags: z.array(z.string()),
    params: z.unknown(),
    paramsShape: z.int().describe('Shape of the params: the job is stored as it was enqueued.'),
    currentParamsShape: z
      .int()
      .nullable()
      .describe('Shape that the published code works with; null: it is not published.'),
    result: z.unknown().describe('Return value; null until it succeeded.'),
    largeParams: Large.describe('Only if the params are large: then params is null.'),
    largeResult: Large.describe('Only if the result is large: then result is null.'),
    error: JobErrorAnswer.nullable().describe('The latest error.'),
    errorSummary: z
      .string()
      .nullable()
      .describe('The latest error in one line: its code, its message and its root cause.'),
    progress: z
      .looseObject({ fraction: z.number().nullable(), message: z.string().nullable() })
      .nullable(),
    idempotencyKey: z.string().nullable(),
    concurrencyKey: z.string().nullable(),
    scheduleId: z.string().nullable(),
    scheduledFor: Moment.nullable(),
    waitsFor: z
      .union([
        z.looseObject({ signal: z.string(), jobs: none, sleep: none }),
        z.looseObject({
          jobs: z.enum(['parents', 'children', 'batch']),
          signal: none,
          sleep: none,
        }),
        z.looseObject({ sleep: z.literal(true), jobs: none, signal: none }),
      ])
      .nullable()
      .describe(
        'What a suspended job waits for: a signal, until runAt, or the end of its parents or ' +
          'children. A scheduled job whose code called `ctx.sleep` has `sleep`.',
      ),
    warnings: z.array(
      z.looseObject({
        code: z.string(),
        since: Moment.nullable(),
        detail: z.string().optional(),
      }),
    ),
    createdAt: Moment,
    queuedAt: Moment.nullable(),
    runAt: Moment.nullable().describe('Earliest time to run.'),
    expiresAt: Moment.nullable().describe('Fails if not started by then.'),
    startedAt: Moment.nullable().describe('Start of the latest attempt.'),
    finishedAt: Moment.nullable().describe(
      'End of the job. From createdAt it took as long as the job lasted, from startedAt as long as the latest attempt and what followed it.',
    ),
    updatedAt: Moment,
    heartbeatAt: Moment.nullable(),
    leaseExpiresAt: Moment.nullable(),
    cancelRequestedAt: Moment.nullable(),
    workerId: z.string().nullable().describe('The worker that runs it; null if none does.'),
  })
  .meta({
    id: 'Job',
    description: 'A job, with its state and its history.',
  }) satisfies z.ZodType<JobView>;

export const warnings = z
  .array(z.looseObject({ code: z.string(), detail: z.string() }))
  .optional()
  .describe('Warnings; omitted if there are none.');

export const SignalAnswer = z.looseObject({
  jobId,
  signal: z.string(),
  status: status.describe('The state of the job now: queued if it waited for the signal.'),
  duplicate: z.boolean().describe('The job had this signal already, with the same payload.'),
  warnings,
});

export const AcceptedAnswer = z.looseObject({
  jobId,
  status,
  warnings,
});
export const BatchAnswer = z.looseObject({
  jobs: z.array(AcceptedAnswer).describe('In the order of the request.'),
});
export const unsearched = z
  .array(z.enum(UNSEARCHED))
  .describe('Kinds of params that the words of q were not compared with, if there may be any.');

export const JobPageAnswer = z.looseObject({
  jobs: z.array(JobAnswer),
  nextCursor: z.string().nullable().describe('Cursor of the next page; null at the end.'),
  searchedUntil: z.iso
    .datetime()
    .nullable()
    .describe(
      'Creation time up to which jobs were searched, when there may be more. A page without jobs ' +
        'means that none of those match.',
    ),
  unsearched,
});

export type AcceptedAnswer = z.infer<typeof AcceptedAnswer>;
