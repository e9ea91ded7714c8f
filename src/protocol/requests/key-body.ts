import { z } from 'zod';
import { PATTERN_SHAPE } from '../../core/access/key-patterns.ts';
import { SCOPE_NAMES, SCOPES, TENANT_SHAPE } from '../../core/access/scope.ts';
import { closed, exampleBody, instant, list, oneOf, says, text, whole } from '../fields.ts';

const KEY_NAME_MAX = 100;
const OVERLAP_SECONDS_DEFAULT = 24 * 3_600;
const OVERLAP_SECONDS_MAX = 30 * OVERLAP_SECONDS_DEFAULT;

const pattern = says('must be the key of a definition, or a pattern like report.*');
const meanings = SCOPE_NAMES.map((name) => `${name}: ${SCOPES[name]}`).join(' ');

/** Body of `POST /v1/keys`. */
export const KeyBody = closed({
  name: text(KEY_NAME_MAX).meta({
    description: 'Name of the key.',
    examples: ['ci'],
  }),
  scopes: list(oneOf('scope', SCOPE_NAMES).meta({ examples: ['jobs:read'] }), 1, SCOPE_NAMES.length)
    .transform((scopes) => [...new Set(scopes)])
    .describe(`Scopes of the key. ${meanings}`),
  definitions: list(
    z
      .string(pattern)
      .regex(PATTERN_SHAPE, pattern)
      .meta({ examples: ['report.*'] }),
    1,
    100,
  )
    .nullable()
    .default(null)
    .describe('For the scope worker: the definitions that a worker may serve. Default all.'),
  expiresAt: instant().nullable().optional().describe('Expiry. Default never.'),
}).meta(exampleBody({ name: 'ci', scopes: ['jobs:read'] }));

/** Body of `POST /v1/keys/{keyId}/rotate`. */
export const RotateBody = closed({
  overlapSeconds: whole(0, OVERLAP_SECONDS_MAX)
    .default(OVERLAP_SECONDS_DEFAULT)
    .describe(`How long the old key stays valid. Default ${OVERLAP_SECONDS_DEFAULT}, a day.`),
});

const tenantName = says('must be 1 to 63 lowercase letters, digits and -, no - first');

/** Body of `POST /v1/tenants`. */
export const TenantBody = closed({
  tenant: z
    .string(tenantName)
    .regex(TENANT_SHAPE, tenantName)
    .meta({ description: 'Name of the tenant.', examples: ['acme'] }),
});

/** Body of `POST /v1/session`. */
export const LoginBody = closed({
  key: text(200).meta({ description: 'An API key.', examples: ['lsk_…'] }),
});
