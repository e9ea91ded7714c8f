import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { z } from 'zod';
import {
  DEFAULT_TENANT,
  mayActFor,
  mayDo,
  type Scope,
  TENANT_SHAPE,
  tenantNotFound,
} from '../../core/access/scope.ts';
import { says } from '../../protocol/fields.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { type Caller, scopeMissing } from './caller.ts';
import type { Callers } from './callers.ts';
import { guardSession } from './guards.ts';
import { refusals } from '../openapi.ts';

/** Who may call a route: everyone, any authenticated caller, or callers with a scope. */
export type Access = 'public' | 'known' | Scope;

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
    /** Concerns all tenants, so only keys of the default tenant may call it. */
    ofDefaultTenant?: true;
    /** Its body is never in memory as a whole. */
    streams?: true;
  }
  interface FastifyInstance {
    /** Checks the request again: a stream may outlive its key. */
    permit(request: FastifyRequest, reply: FastifyReply | null): Promise<void>;
    /** Access by method and path; tests check it as a matrix. */
    accessTable: ReadonlyMap<string, { access: Access; ofDefaultTenant: boolean }>;
  }
}

/**
 * Access control of the API. Every route declares who may call it; the server does not start with a
 * route that declares nothing. The caller is identified before the body is read.
 *
 * Objects of other tenants are not refused here: their statements do not find them, so the response
 * is the same as for an object that does not exist.
 */
export function demandAccess(app: FastifyInstance, callers: Callers): void {
  app.decorateRequest('caller', null);
  app.decorate('permit', async (request, reply) => {
    const { access, ofDefaultTenant = false } = request.routeOptions.config;
    if (access === undefined || access === 'public') return;
    const caller = await callers.identify(request, reply);
    guardSession(request, caller);
    if (access !== 'known' && !mayDo(caller.scopes, access)) {
      throw caller.kind === 'open' ? notForJobs(access) : forbidden(scopeMissing(caller, access));
    }
    if (ofDefaultTenant && caller.home !== DEFAULT_TENANT)
      throw forbidden(`requires ${caller.user ? 'a user' : 'a key'} of the default tenant`);
    request.caller = { ...caller, tenant: await actedFor(request, caller, callers) };
  });
  const table = new Map<string, { access: Access; ofDefaultTenant: boolean }>();
  app.decorate('accessTable', table);
  app.addHook('onRoute', (route) => {
    const { access, ofDefaultTenant = false } = declare(route);
    if (access) table.set(`${String(route.method)} ${route.url}`, { access, ofDefaultTenant });
  });
  app.addHook('onRequest', async (request, reply) => app.permit(request, reply));
}

/** Adds the required scope and the access errors to the description of the route. */
function declare(route: RouteOptions): { access?: Access; ofDefaultTenant?: true } {
  if (route.schema?.hide) return {};
  const { access, ofDefaultTenant } = route.config ?? {};
  if (access === undefined) {
    const name = `${String(route.method)} ${route.url}`;
    throw new Error(`${name} does not declare who may call it: set config.access`);
  }
  const declared = { access, ...(ofDefaultTenant && { ofDefaultTenant }) };
  if (access === 'public' || route.method === 'HEAD') return declared;
  const { description = '', response, querystring, ...schema } = route.schema as Described;
  const needs = access === 'known' ? 'Accepts any valid key.' : `Needs the scope ${access}.`;
  const restriction = ofDefaultTenant ? ' Only for keys of the default tenant.' : '';
  route.schema = {
    ...schema,
    description: `${description} ${needs}${restriction}`.trim(),
    querystring:
      ofDefaultTenant || access === 'known' ? querystring : querystring.safeExtend({ tenant }),
    response: { ...refusals('UNAUTHORIZED', 'FORBIDDEN', 'RATE_LIMITED'), ...(response as object) },
    security: [{ apiKey: [] }, { session: [] }],
  };
  return declared;
}

interface Described {
  description?: string;
  response?: unknown;
  querystring: z.ZodObject;
}

const shape = says('must be the name of a tenant: lowercase letters, digits and -');
const tenant = z
  .string(shape)
  .regex(TENANT_SHAPE, shape)
  .optional()
  .describe('Act for this tenant; only an admin key of the default tenant may name another one.');

async function actedFor(
  { query }: FastifyRequest,
  { home, scopes }: Caller,
  callers: Callers,
): Promise<string> {
  const asked = (query as { tenant?: unknown }).tenant;
  // An invalid name is refused by the validation of the query.
  if (typeof asked !== 'string' || asked === home || !TENANT_SHAPE.test(asked)) return home;
  if (!mayActFor(home, scopes, asked)) {
    throw forbidden('only an admin key of the default tenant may act for another tenant');
  }
  if (await callers.hasTenant(asked)) return asked;
  throw new Refusal('NOT_FOUND', tenantNotFound(asked, await callers.tenantNames()));
}

function notForJobs(scope: Scope): Refusal {
  return forbidden(
    `a job process may not use the scope ${scope} while the server has no keys: create ` +
      'keys with "npx longshore keys create --scope admin" outside of jobs, and pass one to the job',
  );
}

function forbidden(detail: string): Refusal {
  return new Refusal('FORBIDDEN', detail);
}
