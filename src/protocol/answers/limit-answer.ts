import { z } from 'zod';
import type { PauseView } from '../../core/queue/limit-view.ts';

const Moment = z.iso.datetime();

export const Rate = z.looseObject({ limit: z.int(), perMs: z.int(), burst: z.int() });

const limits = z.looseObject({
  concurrencyLimit: z.int().nullable(),
  concurrencyKeyLimit: z.int().nullable(),
  rateLimit: Rate.nullable(),
  keyRateLimit: Rate.nullable(),
  spread: z.int().nullable().describe('Number of shards for its jobs; null: 1.'),
});

const override = z.looseObject({
  concurrencyLimit: z.int().optional(),
  concurrencyKeyLimit: z.int().optional(),
  rateLimit: z.union([z.literal(0), Rate]).optional(),
  keyRateLimit: z.union([z.literal(0), Rate]).optional(),
  spread: z.int().optional(),
});

export const DefinitionLimitsAnswer = z
  .looseObject({
    effective: limits.describe('Effective limits; null: no limit.'),
    code: limits.describe('Limits of the code of the highest published version.'),
    override: override.describe('Limits set through the API; 0: no limit.'),
    changedBy: z.string().nullable(),
    changedAt: Moment.nullable(),
    inUse: z
      .int()
      .nullable()
      .describe(
        'Running jobs that count towards the limit; null for keys of tenants other than default.',
      ),
  })
  .meta({ id: 'DefinitionLimits', description: 'Limits of a definition.' });

export const PauseAnswer = z
  .looseObject({
    scope: z.enum(['all', 'tenant', 'definition']),
    name: z
      .string()
      .nullable()
      .describe('Name of the tenant or definition; null if everything is paused.'),
    by: z
      .string()
      .nullable()
      .describe('Actor of the pause; null for keys of tenants other than default.'),
    reason: z.string().nullable(),
    since: Moment,
  })
  .meta({ id: 'Pause', description: 'A pause.' }) satisfies z.ZodType<PauseView>;

export const PausedAnswer = PauseAnswer.extend({
  before: PauseAnswer.nullable().describe('The pause that it had already; null if it had none.'),
}).meta({ id: 'Paused', description: 'A pause, and the one before it.' });

export const PausesAnswer = z.looseObject({ pauses: z.array(PauseAnswer) });

export const ResumedAnswer = z.looseObject({
  resumed: PauseAnswer.nullable().describe('The removed pause; null if there was none.'),
});

export const DefinitionKeyParams = z.object({
  key: z
    .string()
    .describe('The key of a definition; write / as %2F.')
    .meta({ examples: ['image.resize'] }),
});

export const TenantParams = z.object({
  tenant: z
    .string()
    .describe('The name of a tenant.')
    .meta({ examples: ['acme'] }),
});
