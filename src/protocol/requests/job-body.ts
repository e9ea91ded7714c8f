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
    baseMs: number(0, YEAR_MS).optional().describe('The first delay; each next one doubles.'),
    maxMs: number(0, YEAR_MS).optional().describe('No delay is longer than this.'),
    delaysMs: list(number(0, YEAR_MS), 1, MAX_ATTEMPTS_MAX)
      .optional()
      .describe('The delays one by one, instead of baseMs and maxMs; the last one repeats.'),
    jitter: number(0, 1).optional().describe('The share by which a delay is spread. Default 0.1.'),
  }),
]);

const UniqueBody = closed({
  key: text(IDEMPOTENCY_KEY_MAX)
    .optional()
    .describe('What makes two jobs of the definition the same. Default: their params.'),
  while: z
    .union([
      oneOf('time', ['queued', 'active'], 'must be queued, active or an object with windowMs'),
      closed({ windowMs: whole(1, YEAR_MS) }),
    ])
    .describe('For how long: while the earlier one waits, waits or runs, or is not yet so old.'),
  onConflict: oneOf('answer', ['existing', 'replace'])
    .optional()
    .describe(
      'Then the earlier job is the answer (existing, the default), or it gets the params, ' +
        'priority, run time and expiry of this one (replace) if it has not begun.',
    ),
});

const seconds = says(`must be a number above 0 and at most ${TIMEOUT_SECONDS_MAX} (30 days)`);

/** What `POST /v1/jobs` takes. Rules that cross fields are in `parse-job.ts`. */
export const JobBody = closed({
  definitionKey: definitionKey().meta({
    description: 'Which definition to run.',
    examples: ['image.resize'],
  }),
  definitionVersion: whole(1, VERSION_MAX)
    .optional()
    .describe('Which version of it. Default: the highest published one, else 1.'),
  params: z
    .unknown()
    .optional()
    .meta({
      description:
        `Any JSON: at most ${PARAMS_MAX_BYTES} bytes, ${PARAMS_MAX_DEPTH} levels and ` +
        `${PARAMS_MAX_KEYS} keys in all. Default {}.`,
      examples: [{ url: 'cat.png', width: 640 }],
    }),
  priority: whole(-PRIORITY_MAX, PRIORITY_MAX).optional().describe('Higher runs first. Default 0.'),
  maxAttempts: whole(1, MAX_ATTEMPTS_MAX)
    .optional()
    .describe('How often it is tried at most. Default: as the retry preset or definition says.'),
  idempotencyKey: text(IDEMPOTENCY_KEY_MAX)
    .optional()
    .describe('The same key again answers with the same job. Also by the Idempotency-Key header.'),
  concurrencyKey: text(CONCURRENCY_KEY_MAX)
    .optional()
    .describe('Jobs with the same key share the limits that the definition has for keys.')
    .meta({ examples: ['customer-17'] }),
  runAt: instant().optional().describe('Not before this time. Excludes delayMs.'),
  delayMs: whole(0, DELAY_MS_MAX).optional().describe('Not before so long from now.'),
  hold: flag().optional().describe('Store it, and wait until somebody releases it.'),
  timeoutSeconds: z
    .number(seconds)
    .gt(0, seconds)
    .max(TIMEOUT_SECONDS_MAX, seconds)
    .optional()
    .describe('How long one attempt may take. Default: as the definition says.'),
  unique: UniqueBody.optional().describe('Make no second one of its kind.'),
  expiresAt: instant()
    .optional()
    .describe('A job that has not begun by then fails with EXPIRED, instead of running late.'),
  skipValidation: flag()
    .optional()
    .describe('Do not hold the params against the schema now; before it runs they are, always.'),
  retry: RetryBody.optional().describe('When a failed attempt is tried again: a preset, or rules.'),
  tags: list(text(TAG_LENGTH_MAX).meta({ examples: ['nightly'] }), 0, TAGS_MAX)
    .optional()
    .describe('Words to find it by. Each one only once.'),
});

export type JobBody = z.infer<typeof JobBody>;

/** What `POST /v1/jobs/batch` takes. */
export const BatchBody = closed({
  jobs: list(JobBody, 1, BATCH_MAX).describe('Stored all or none, answered in this order.'),
});
