import { z } from 'zod';
import { KEY_STATUSES, type KeyView, type TenantView } from '../../core/views/key-view.ts';
import { SCOPE_NAMES } from '../../core/access/scope.ts';
import { PauseAnswer } from './limit-answer.ts';

const Moment = z.iso.datetime();
const scopes = z.array(z.enum(SCOPE_NAMES)).describe('Scopes of the key.');
const keyId = z.string().describe('The public part of the key.');

export const KeyIdParams = z.object({
  keyId: z
    .string()
    .describe('The id of the key.')
    .meta({ examples: ['1f0c528d0e4f0b9a'] }),
});

const KeyAnswer = z
  .looseObject({
    keyId,
    tenant: z.string(),
    name: z.string(),
    scopes,
    definitions: z
      .array(z.string())
      .nullable()
      .describe('Definitions that a worker with this key may serve; null means all.'),
    status: z.enum(KEY_STATUSES),
    createdAt: Moment,
    expiresAt: Moment.nullable(),
    revokedAt: Moment.nullable(),
    successorId: z.string().nullable().describe('The key that replaces it.'),
  })
  .meta({ id: 'Key', description: 'An API key, without its secret.' }) satisfies z.ZodType<KeyView>;

export const KeysAnswer = z.looseObject({ keys: z.array(KeyAnswer) });

export const MadeKeyAnswer = z.looseObject({
  keyId,
  key: z.string().describe('The key itself, shown only once.'),
});

export const TenantAnswer = z
  .looseObject({
    tenant: z.string(),
    createdAt: Moment,
    weight: z.int().describe('Share of claims among tenants at the same priority.'),
    concurrencyLimit: z.int().nullable().describe('Maximum number of its running jobs.'),
    inUse: z.int().describe('Running jobs that count towards the limit; 0 without a limit.'),
    paused: PauseAnswer.nullable(),
    firingAlerts: z.int().describe('Number of its firing alerts.'),
    failedJobs: z
      .int()
      .describe(
        'Jobs that failed in the last 24 hours, at most as many as are failed now. By the counters.',
      ),
    heldBackMs: z
      .number()
      .nullable()
      .describe(
        'How long its first queued job has waited while it is at its limit or paused; else null.',
      ),
    heldBackJobs: z
      .looseObject({ count: z.int(), isExact: z.boolean().describe('False: there are more.') })
      .nullable()
      .describe('How many of its jobs are queued then.'),
  })
  .meta({ id: 'Tenant', description: 'A tenant.' }) satisfies z.ZodType<TenantView>;

export const TenantsAnswer = z.looseObject({ tenants: z.array(TenantAnswer) });
