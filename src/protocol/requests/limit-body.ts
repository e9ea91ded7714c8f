import { z } from 'zod';
import { CONCURRENCY_LIMIT_MAX, PER_MS_MAX, RATE_MAX } from '../../core/queue/limits.ts';
import { SPREAD_MAX } from '../../core/shards/spread.ts';
import { TENANT_WEIGHT_MAX } from '../../core/views/key-view.ts';
import { closed, exampleBody, says, text, whole } from '../fields.ts';

const REASON_MAX = 500;

/** Body of all pause calls. */
export const PauseBody = closed({
  reason: text(REASON_MAX)
    .nullable()
    .optional()
    .meta({
      description: 'Reason, shown to other users.',
      examples: ['the mail provider is down'],
    }),
}).meta(exampleBody({ reason: 'the mail provider is down' }));

const count = () => whole(0, CONCURRENCY_LIMIT_MAX).nullable().optional();
const concurrencyLimit = count().describe(
  'Maximum number of running jobs; 0: no limit, null: the limit of the code. To stop it, pause it.',
);

const right = says(
  'must be { limit, perMs, burst }, 0 for no limit, or null to remove the override',
);
const rate = () =>
  z
    .union([
      z.literal(0, right),
      closed({
        limit: whole(1, RATE_MAX).describe('Number of starts'),
        perMs: whole(1, PER_MS_MAX).describe('per this many milliseconds.'),
        burst: whole(1, RATE_MAX).optional().describe('Maximum burst. Default: limit.'),
      }),
    ])
    .nullable()
    .optional();

/** Body of `PATCH /v1/definitions/{key}/limits`; omitted fields stay unchanged. */
export const DefinitionLimitsBody = closed({
  concurrencyLimit,
  concurrencyKeyLimit: count().describe('The same per concurrency key.'),
  rateLimit: rate().describe('Rate limit of starts.'),
  keyRateLimit: rate().describe('The same per concurrency key.'),
  spread: whole(1, SPREAD_MAX)
    .nullable()
    .optional()
    .describe('Number of shards for its jobs; null: remove the override.'),
}).meta(exampleBody({ concurrencyLimit: 4 }));

/** Body of `PATCH /v1/tenants/{tenant}/limits`; omitted fields stay unchanged. */
export const TenantLimitsBody = closed({
  concurrencyLimit: count().describe(
    'Maximum number of its running jobs; 0 or null: no limit. To stop it, pause it.',
  ),
  weight: whole(1, TENANT_WEIGHT_MAX)
    .optional()
    .describe('Share of claims among tenants at the same priority. Default 1.'),
}).meta(exampleBody({ weight: 3 }));
