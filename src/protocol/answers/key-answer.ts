import { z } from 'zod';
import { KEY_STATUSES, type KeyView, type TenantView } from '../../core/views/key-view.ts';
import { SCOPE_NAMES } from '../../core/access/scope.ts';
import { PauseAnswer } from './limit-answer.ts';

const Moment = z.iso.datetime();
const scopes = z.array(z.enum(SCOPE_NAMES)).describe('What it may do.');
const keyId = z.string().describe('The public part of the key.');

export const KeyIdParams = z.object({
  keyId: z
    .string()
    .describe('The id that GET /v1/keys shows.')
    .meta({ examples: ['1f0c528d0e4f0b9a'] }),
});

const KeyAnswer = z
  .looseObject({
    keyId,
    tenant: z.string(),
    name: z.string(),
    scopes,
    status: z.enum(KEY_STATUSES),
    createdAt: Moment,
    expiresAt: Moment.nullable(),
    revokedAt: Moment.nullable(),
    successorId: z.string().nullable().describe('The key that took its place.'),
  })
  .meta({ id: 'Key', description: 'An API key, without its secret.' }) satisfies z.ZodType<KeyView>;

export const KeysAnswer = z.looseObject({ keys: z.array(KeyAnswer) });

export const MadeKeyAnswer = z.looseObject({
  keyId,
  key: z.string().describe('The key itself. It is shown this one time only.'),
});

export const TenantAnswer = z
  .looseObject({
    tenant: z.string(),
    createdAt: Moment,
    weight: z.int().describe('Its share of the claims among tenants whose jobs are as urgent.'),
    concurrencyLimit: z.int().nullable().describe('How many of its jobs run at a time.'),
    inUse: z.int().describe('How many run and are counted; 0 while there is no limit.'),
    paused: PauseAnswer.nullable(),
  })
  .meta({ id: 'Tenant', description: 'Who owns jobs.' }) satisfies z.ZodType<TenantView>;

export const TenantsAnswer = z.looseObject({ tenants: z.array(TenantAnswer) });

export const SessionAnswer = z.looseObject({
  kind: z
    .enum(['open', 'key', 'session'])
    .describe('How the caller is known; open is a loopback server that never had a key.'),
  tenant: z.string(),
  scopes,
  keyId: keyId.nullable(),
  expiresAt: Moment.nullable().describe('When the session ends at the latest.'),
});
