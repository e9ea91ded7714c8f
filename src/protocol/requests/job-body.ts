import { z } from 'zod';
import { RETRY_PRESETS } from '../../core/failure/backoff.ts';
import {
  MAX_ATTEMPTS_MAX,
  PRIORITY_MAX,
  TIMEOUT_SECONDS_MAX,
} from '../../core/definition/definition.ts';
import { YEAR_MS } from '../../core/values/duration.ts';
import { CONCURRENCY_KEY_MAX } from '../../core/queue/limits.ts';
import { PARAMS_MAX_BYTES, PARAMS_MAX_DEPTH, PARAMS_MAX_KEYS } from '../../core/job/params.ts';
import { closed, definitionKey, flag, instant, list, number, oneOf, says } from '../fields.ts';
import { text, whole } from '../fields.ts';

const DELAY_MS_MAX = 10 * YEAR_MS;
export const VERSION_MAX = 2_147_483_647;
export const IDEMPOTENCY_KEY_MAX = 255;
const TAGS_MAX = 20;
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
});

const seconds = says(`must be a number above 0 and at most ${TIMEOUT_SECONDS_MAX} (30 days)`);

/** Body of `POST /v1/jobs`. Rules that cross fields are in `parse-job.ts`. */
export const JobBody = closed({
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
  priority: whole(-PRIORITY_MAX, PRIORITY_MAX).optional().describe('Higher runs first. Default 0.'),
  maxAttempts: whole(1, MAX_ATTEMPTS_MAX)
    .optional()
    .describe('Maximum number of attempts. Default: from the retry preset or the definition.'),
  idempotencyKey: text(IDEMPOTENCY_KEY_MAX)
    .optional()
    .describe('The same key again returns the same job. Alternative: the Idempotency-Key header.'),
  concurrencyKey: text(CONCURRENCY_KEY_MAX)
    .optional()
    .describe('Jobs with the same key share the per-key limits of the definition.')
    .meta({ examples: ['customer-17'] }),
  runAt: instant().optional().describe('Earliest time to run. Excludes delayMs.'),
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
  retry: RetryBody.optional().describe('Retry policy: a preset or rules.'),
  tags: list(text(TAG_LENGTH_MAX).meta({ examples: ['nightly'] }), 0, TAGS_MAX)
    .optional()
    .describe('Tags to find the job by. No duplicates.'),
});

export type JobBody = z.infer<typeof JobBody>;

/** Body of `POST /v1/jobs/batch`. */
export const BatchBody = closed({
  jobs: list(JobBody, 1, BATCH_MAX).describe(
    'Stored all or none; the response has the same order.',
  ),
});
