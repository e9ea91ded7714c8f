import { z } from 'zod';
import { TENANT_SHAPE } from '../core/access/scope.ts';
import { closed, oneOf, says } from './fields.ts';

const tenantShape = says('must be the name of a tenant: lowercase letters, digits and -');
const tenant = z.string(tenantShape).regex(TENANT_SHAPE, tenantShape).optional();
const toShape = says('must be a path that begins with /ui/');

/** Query of `GET /v1/sign-in/sso`. */
export const SignInQuery = closed({
  to: z
    .string(toShape)
    .max(2_000, toShape)
    .regex(/^\/ui\/[^\\\p{Cc}]*$/u, toShape)
    .default('/ui/')
    .describe('Page of the dashboard to return to.'),
  tenant: tenant.describe('Tenant of the session, for users of several.'),
  prompt: oneOf('prompt', ['login'])
    .optional()
    .describe('login: the provider asks again, so that another user can sign in.'),
});

/** Query of `GET /v1/sign-in/sso/callback`. Identity providers may add parameters. */
export const CallbackQuery = z.looseObject({
  state: z.string().optional().describe('As sent by this server.'),
  code: z.string().optional().describe('Of the identity provider.'),
  error: z.string().optional().describe('Of the identity provider.'),
});

/** Query of `/v1/sessions`. */
export const SessionsQuery = closed({
  tenant: tenant.describe(
    'Act for this tenant; only an admin of the default tenant may name another one.',
  ),
});
