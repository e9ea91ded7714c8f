import { z } from 'zod';
import { SCOPE_NAMES, SCOPES, TENANT_SHAPE } from '../../core/access/scope.ts';
import { closed, instant, list, oneOf, says, text, whole } from '../fields.ts';

const KEY_NAME_MAX = 100;
const OVERLAP_SECONDS_DEFAULT = 24 * 3_600;
const OVERLAP_SECONDS_MAX = 30 * OVERLAP_SECONDS_DEFAULT;

const meanings = SCOPE_NAMES.map((name) => `${name}: ${SCOPES[name]}`).join(' ');

/** What `POST /v1/keys` takes. */
export const KeyBody = closed({
  name: text(KEY_NAME_MAX).meta({
    description: 'A word for people: who or what has this key.',
    examples: ['ci'],
  }),
  scopes: list(oneOf('scope', SCOPE_NAMES).meta({ examples: ['jobs:read'] }), 1, SCOPE_NAMES.length)
    .transform((scopes) => [...new Set(scopes)])
    .describe(`What it may do. ${meanings}`),
  expiresAt: instant().nullable().optional().describe('From then on it is refused. Default never.'),
});

/** What `POST /v1/keys/{keyId}/rotate` takes. */
export const RotateBody = closed({
  overlapSeconds: whole(0, OVERLAP_SECONDS_MAX)
    .default(OVERLAP_SECONDS_DEFAULT)
    .describe(`How long the old key goes on. Default ${OVERLAP_SECONDS_DEFAULT}, a day.`),
});

const tenantName = says('must be 1 to 63 lowercase letters, digits and -, no - first');

/** What `POST /v1/tenants` takes. */
export const TenantBody = closed({
  tenant: z
    .string(tenantName)
    .regex(TENANT_SHAPE, tenantName)
    .meta({ description: 'Its name.', examples: ['acme'] }),
});

/** What `POST /v1/session` takes. */
export const LoginBody = closed({
  key: text(200).meta({ description: 'An API key.', examples: ['lsk_…'] }),
});
