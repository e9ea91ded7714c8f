import { z } from 'zod';
import { type JobError, JOB_STATES, type JobView } from '../../core/job/job.ts';

/**
 * Jobs as the API answers them. The objects are open: a later release may add fields, and a client
 * must not stumble over them. `satisfies` holds these shapes to the words of `core`.
 */
const Moment = z.iso.datetime();
const status = z.enum(JOB_STATES).describe('Where the job is in its life.');
const jobId = z.string().describe('The id of the job, a UUID.');

export const JobIdParams = z.object({
  jobId: z
    .string()
    .describe('The id that POST /v1/jobs answered.')
    .meta({ examples: ['0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400'] }),
});

export const JobErrorAnswer: z.ZodType<JobError> = z
  .looseObject({
    code: z.string().describe('What kind of failure it was.'),
    message: z.string(),
    stack: z.string().nullable(),
    get cause() {
      return JobErrorAnswer.nullable();
    },
  })
  .meta({ id: 'JobError', description: 'Why an attempt, or a job, did not succeed.' });

export const JobAnswer = z
  .looseObject({
    jobId,
    definitionKey: z.string(),
    definitionVersion: z.int(),
    tenant: z.string(),
    owner: z.string().nullable().describe('The team that the definition names.'),
    status,
    priority: z.int(),
    attempts: z.int().describe('How often it has been started.'),
    maxAttempts: z.int(),
    tags: z.array(z.string()),
    params: z.unknown(),
    result: z.unknown().describe('What the job returned; null until it succeeded.'),
    error: JobErrorAnswer.nullable().describe('The latest failure.'),
    progress: z
      .looseObject({ fraction: z.number().nullable(), message: z.string().nullable() })
      .nullable(),
    idempotencyKey: z.string().nullable(),
    concurrencyKey: z.string().nullable(),
    scheduleId: z.string().nullable(),
    scheduledFor: Moment.nullable(),
    warnings: z.array(z.looseObject({ code: z.string(), since: Moment.nullable() })),
    createdAt: Moment,
    queuedAt: Moment.nullable(),
    runAt: Moment.nullable().describe('Not before this time.'),
    expiresAt: Moment.nullable().describe('It fails if it has not begun by then.'),
    startedAt: Moment.nullable().describe('When the latest attempt began.'),
    finishedAt: Moment.nullable(),
    updatedAt: Moment,
    heartbeatAt: Moment.nullable(),
    leaseExpiresAt: Moment.nullable(),
    cancelRequestedAt: Moment.nullable(),
    workerId: z.string().nullable().describe('Who holds it; null when nobody does.'),
  })
  .meta({
    id: 'Job',
    description: 'A job, with its state and its history.',
  }) satisfies z.ZodType<JobView>;

export const AcceptedAnswer = z.looseObject({
  jobId,
  status,
  warnings: z
    .array(z.looseObject({ code: z.string(), detail: z.string() }))
    .optional()
    .describe('What the caller should know; left out when there is nothing.'),
});
export const BatchAnswer = z.looseObject({
  jobs: z.array(AcceptedAnswer).describe('In the order of the request.'),
});
export const JobPageAnswer = z.looseObject({
  jobs: z.array(JobAnswer),
  nextCursor: z.string().nullable().describe('Ask with it for the next page; null at the end.'),
});

export type AcceptedAnswer = z.infer<typeof AcceptedAnswer>;
