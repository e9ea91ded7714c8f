import { z } from 'zod';
import { CONCURRENCY_LIMIT_MAX, PER_MS_MAX, RATE_MAX } from '../../core/queue/limits.ts';
import { TENANT_WEIGHT_MAX } from '../../core/views/key-view.ts';
import { closed, says, text, whole } from '../fields.ts';

const REASON_MAX = 500;

/** What everything that pauses takes. */
export const PauseBody = closed({
  reason: text(REASON_MAX)
    .nullable()
    .optional()
    .meta({ description: 'Why, for those who wonder.', examples: ['the mail provider is down'] }),
});

const count = () => whole(0, CONCURRENCY_LIMIT_MAX).nullable().optional();
const concurrencyLimit = count().describe(
  'How many run at a time; 0 lifts the limit, null takes back what was set here.',
);

const right = says('must be { limit, perMs, burst }, 0 for no limit, or null to take it back');
const rate = () =>
  z
    .union([
      z.literal(0, right),
      closed({
        limit: whole(1, RATE_MAX).describe('So many starts'),
        perMs: whole(1, PER_MS_MAX).describe('in so many milliseconds,'),
        burst: whole(1, RATE_MAX).optional().describe('and so many at once. Default: limit.'),
      }),
    ])
    .nullable()
    .optional();

/** What `PATCH /v1/definitions/{key}/limits` takes: what is not named stays as it is. */
export const DefinitionLimitsBody = closed({
  concurrencyLimit,
  concurrencyKeyLimit: count().describe('The same for each concurrency key.'),
  rateLimit: rate().describe('How often one may start.'),
  keyRateLimit: rate().describe('The same for each concurrency key.'),
});

/** What `PATCH /v1/tenants/{tenant}/limits` takes: what is not named stays as it is. */
export const TenantLimitsBody = closed({
  concurrencyLimit,
  weight: whole(1, TENANT_WEIGHT_MAX)
    .optional()
    .describe('Its share of the claims among tenants whose jobs are as urgent. Default 1.'),
});
