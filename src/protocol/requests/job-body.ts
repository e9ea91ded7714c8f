import { z } from 'zod';
import { RETRY_PRESETS } from '../../core/failure/backoff.ts';
import {
  MAX_ATTEMPTS_MAX,
  PRIORITY_MAX,
  TIMEOUT_SECONDS_MAX,
} from '../../core/definition/definition.ts';
import { PARAMS_SHAPE_MAX } from '../../core/shape/upgrade.ts';
import { ON_PARENT_FAILURE, PARENTS_MAX } from '../../core/dependency/dependency.ts';
import { YEAR_MS } from '../../core/values/duration.ts';
import { CONCURRENCY_KEY_MAX } from '../../core/queue/limits.ts';
import { isJobId } from '../../core/job/job-id.ts';
import { PARAMS_MAX_BYTES, PARAMS_MAX_DEPTH, PARAMS_MAX_KEYS } from '../../core/job/params.ts';
import {
  closed,
  definitionKey,
  exampleBody,
  flag,
  instant,
  list,
  number,
  oneOf,
  says,
} from '../fields.ts';
import { text, whole } from '../fields.ts';

const DELAY_MS_MAX = 10 * YEAR_MS;
export const VERSION_MAX = 2_147_483_647;
export const IDEMPOTENCY_KEY_MAX = 255;
export const TAGS_MAX = 20;
export const TAG_LENGTH_MAX = 100;
export const BATCH_MAX = 10_000;

const PRESETS = Object.keys(RETRY_PRESETS);

const RetryBody = z.union([
  oneOf('retry preset', PRESETS, `must be a preset (${PRESETS.join(', ')}) or an object`),
  closed({
    baseMs: number(0, YEAR_MS).optional().describe('First delay; it doubles with each attempt.'),
    maxMs: number(0, YEAR_MS).optional().describe('Maximum delay.'),
    delaysMs: list(number(0, YEAR_MS), 1, MAX_ATTEMPTS_MAX)
      .optional()
      .describe('List of delays instead of baseMs and maxMs; the last one repeats.'),
    jitter: number(0, 1).optional().describe('Random share of a delay. Default 0.1.'),
  }),
]);

const UniqueBody = closed({
  key: text(IDEMPOTENCY_KEY_MAX)
    .optional()
    .describe('Key that identifies duplicates of the definition. Default: the params.'),
  while: z
    .union([
      oneOf('time', ['queued', 'active'], 'must be queued, active or an object with windowMs'),
      closed({ windowMs: whole(1, YEAR_MS) }),
    ])
    .describe(
      'Duration: while the existing job is queued, is queued or running, or is younger than windowMs.',
    ),
  onConflict: oneOf('answer', ['existing', 'replace'])
    .optional()
    .describe(
      'Return the existing job (existing, the default), or update its params, priority, run ' +
        'time and expiry if it has not started (replace).',
    ),
  maxWaitMs: whole(1, YEAR_MS)
    .optional()
    .describe(
      'With replace: however often the job is replaced, it becomes due at the latest this long ' +
        'after it was created. At least delayMs; excludes runAt.',
    ),
});

const seconds = says(`must be a number above 0 and at most ${TIMEOUT_SECONDS_MAX} (30 days)`);

const job = closed({
  definitionKey: definitionKey().meta({
    description: 'Key of the definition.',
    examples: ['image.resize'],
  }),
  definitionVersion: whole(1, VERSION_MAX)
    .optional()
    .describe('Version of the definition. Default: the highest published version, else 1.'),
  params: z
    .unknown()
    .optional()
    .meta({
      description:
        `Any JSON: at most ${PARAMS_MAX_BYTES} bytes, ${PARAMS_MAX_DEPTH} levels and ` +
        `${PARAMS_MAX_KEYS} keys in total. Default {}.`,
      examples: [{ url: 'cat.png', width: 640 }],
    }),
  paramsShape: whole(1, PARAMS_SHAPE_MAX)
    .optional()
    .describe(
      'Shape of the params, for a definition with upgrades. Default: the current one. Params of ' +
        'another shape are validated when the job runs, after the upgrade.',
    ),
  priority: whole(-PRIORITY_MAX, PRIORITY_MAX).optional().describe('Higher runs first. Default 0.'),
  maxAttempts: whole(1, MAX_ATTEMPTS_MAX)
    .optional()
    .describe('Maximum number of attempts. Default: from the retry preset or the definition.'),
  idempotencyKey: text(IDEMPOTENCY_KEY_MAX)
    .optional()
    .describe('The same key again returns the same job. Alternative: the Idempotency-Key header.'),
  requestId: z
    .string('must be a UUID of version 7')
    .refine(isJobId, 'must be a UUID of version 7')
    .optional()
    .describe(
      'Names this request: the same requestId again, within a day, returns the same job. Clients ' +
        'set it to repeat a request after a lost response. Cheaper than an idempotencyKey, and unused with one.',
    )
    .meta({ examples: ['019a8c1e-7b60-7000-8000-00000000002a'] }),
  concurrencyKey: text(CONCURRENCY_KEY_MAX)
    .optional()
    .describe('Jobs with the same key share the per-key limits of the definition.')
    .meta({ examples: ['customer-17'] }),
  runAt: instant().optional().describe('Earliest time to run. Excludes delayMs.'),
  scheduledAt: instant().optional().describe('Another name of runAt.'),
  delayMs: whole(0, DELAY_MS_MAX).optional().describe('Delay before it may run.'),
  hold: flag().optional().describe('Hold the job until it is released.'),
  timeoutSeconds: z
    .number(seconds)
    .gt(0, seconds)
    .max(TIMEOUT_SECONDS_MAX, seconds)
    .optional()
    .describe('Timeout of one attempt. Default: from the definition.'),
  unique: UniqueBody.optional().describe('Deduplication.'),
  expiresAt: instant()
    .optional()
    .describe('A job that has not started by then fails with EXPIRED.'),
  skipValidation: flag()
    .optional()
    .describe('Do not validate the params now; they are always validated before the job runs.'),
  requireRegistered: flag()
    .optional()
    .describe(
      'Refuse the job with UNREGISTERED when no worker has registered its definition, instead of a ' +
        'warning. Default: the setting LONGSHORE_UNREGISTERED of the server.',
    ),
  retry: RetryBody.optional().describe('Retry policy: a preset or rules.'),
  after: list(
    z
      .string('must be the id of a job')
      .refine(isJobId, 'must be the id of a job')
      .meta({ examples: ['0199f0a1-7c3e-7000-9b1d-5a4f3c2e1400'] }),
    1,
    PARENTS_MAX,
  )
    .optional()
    .describe(
      'Ids of jobs, its parents: the job is suspended until all of them have ended. Excludes runAt, ' +
        'delayMs, hold and unique. No duplicates.',
    ),
  onParentFailure: oneOf('answer', [...ON_PARENT_FAILURE])
    .optional()
    .describe(
      'If a parent fails or is cancelled, the job fails with PARENT_FAILED (fail, the default), runs ' +
        'when all have ended (run), or is cancelled (cancel). Needs after.',
    ),
  tags: list(text(TAG_LENGTH_MAX).meta({ examples: ['nightly'] }), 0, TAGS_MAX)
    .optional()
    .describe('Tags to find the job by. No duplicates.'),
});

/** Body of `POST /v1/jobs`. Rules that cross fields are in `parse-job.ts`. */
export const JobBody = job.meta(exampleBody({ definitionKey: 'hello', params: { name: 'Ada' } }));

export type JobBody = z.infer<typeof JobBody>;

/** Body of `POST /v1/jobs/batch`. */
export const BatchBody = closed({
  jobs: list(job, 1, BATCH_MAX).describe('Stored all or none; the response has the same order.'),
}).meta(
  exampleBody({ jobs: [{ definitionKey: 'hello' }, { definitionKey: 'hello', delayMs: 60_000 }] }),
);
