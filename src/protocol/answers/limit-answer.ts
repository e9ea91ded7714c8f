import { z } from 'zod';
import type { PauseView } from '../../core/queue/limit-view.ts';

const Moment = z.iso.datetime();

export const Rate = z.looseObject({ limit: z.int(), perMs: z.int(), burst: z.int() });

const limits = z.looseObject({
  concurrencyLimit: z.int().nullable(),
  concurrencyKeyLimit: z.int().nullable(),
  rateLimit: Rate.nullable(),
  keyRateLimit: Rate.nullable(),
});

const override = z.looseObject({
  concurrencyLimit: z.int().optional(),
  concurrencyKeyLimit: z.int().optional(),
  rateLimit: z.union([z.literal(0), Rate]).optional(),
  keyRateLimit: z.union([z.literal(0), Rate]).optional(),
});

export const DefinitionLimitsAnswer = z
  .looseObject({
    effective: limits.describe('What holds now; null is no limit.'),
    code: limits.describe('What the code of the highest published version says.'),
    override: override.describe('What a person said instead; 0 lifts a limit.'),
    changedBy: z.string().nullable(),
    changedAt: Moment.nullable(),
    inUse: z
      .int()
      .nullable()
      .describe('How many run and are counted; null for keys of other tenants than default.'),
  })
  .meta({ id: 'DefinitionLimits', description: 'How much of a definition may go on.' });

export const PauseAnswer = z
  .looseObject({
    scope: z.enum(['all', 'tenant', 'definition']),
    name: z.string().nullable().describe('Of the tenant or definition; null if all is paused.'),
    by: z
      .string()
      .nullable()
      .describe('Who paused it; null for keys of other tenants than default.'),
    reason: z.string().nullable(),
    since: Moment,
  })
  .meta({ id: 'Pause', description: 'A pause.' }) satisfies z.ZodType<PauseView>;

export const PausesAnswer = z.looseObject({ pauses: z.array(PauseAnswer) });

export const ResumedAnswer = z.looseObject({
  resumed: PauseAnswer.nullable().describe('The pause that is over; null if there was none.'),
});

export const DefinitionKeyParams = z.object({
  key: z
    .string()
    .describe('The key of a definition; a / in it is written %2F.')
    .meta({ examples: ['image.resize'] }),
});

export const TenantParams = z.object({
  tenant: z
    .string()
    .describe('The name of a tenant.')
    .meta({ examples: ['acme'] }),
});
