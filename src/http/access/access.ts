import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { z } from 'zod';
import {
  HOST_TENANT,
  mayActFor,
  mayDo,
  type Scope,
  TENANT_SHAPE,
} from '../../core/access/scope.ts';
import { says } from '../../protocol/fields.ts';
import { Refusal } from '../../protocol/refusal.ts';
import type { Caller } from './caller.ts';
import type { Callers } from './callers.ts';
import { guardSession } from './guards.ts';
import { refusals } from '../openapi.ts';

/** Who may call a route: nobody is asked, any caller that is known, or who has a scope. */
export type Access = 'public' | 'known' | Scope;

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
    /** It is about all tenants at once, so that only keys of the host tenant may call it. */
    ofHost?: true;
  }
  interface FastifyInstance {
    /** Asks again whether a request may go on: what it began may outlive its key. */
    permit(request: FastifyRequest, reply: FastifyReply | null): Promise<void>;
    /** By method and path, who may call each route: the matrix of tests is made from it. */
    accessTable: ReadonlyMap<string, { access: Access; ofHost: boolean }>;
  }
}

/**
 * The one door of the API. Every route declares who may call it, and one that declares nothing keeps
 * the server from starting. Who is calling is found out before the body is read.
 *
 * A thing of another tenant is never refused here: it is simply not found, by the statement that looks
 * for it, with the same answer as one that does not exist.
 */
export function demandAccess(app: FastifyInstance, callers: Callers): void {
  app.decorateRequest('caller', null);
  app.decorate('permit', async (request, reply) => {
    const { access, ofHost = false } = request.routeOptions.config;
    if (access === undefined || access === 'public') return;
    const caller = await callers.identify(request, reply);
    guardSession(request, caller);
    if (access !== 'known' && !mayDo(caller.scopes, access)) {
      throw caller.kind === 'open' ? notForJobs(access) : lacking(access);
    }
    if (ofHost && caller.home !== HOST_TENANT) throw forbidden('only a key of the default tenant');
    request.caller = { ...caller, tenant: await actedFor(request, caller, callers) };
  });
  const table = new Map<string, { access: Access; ofHost: boolean }>();
  app.decorate('accessTable', table);
  app.addHook('onRoute', (route) => {
    const { access, ofHost = false } = declare(route);
    if (access) table.set(`${String(route.method)} ${route.url}`, { access, ofHost });
  });
  app.addHook('onRequest', async (request, reply) => app.permit(request, reply));
}

/** What is refused at the door is told in the description of every route behind it. */
function declare(route: RouteOptions): { access?: Access; ofHost?: true } {
  if (route.schema?.hide) return {};
  const { access, ofHost } = route.config ?? {};
  if (access === undefined) {
    const name = `${String(route.method)} ${route.url}`;
    throw new Error(`${name} does not say who may call it: give it config.access`);
  }
  const declared = { access, ...(ofHost && { ofHost }) };
  if (access === 'public' || route.method === 'HEAD') return declared;
  const { description = '', response, querystring, ...schema } = route.schema as Described;
  const needs = access === 'known' ? 'Any valid key will do.' : `Needs the scope ${access}.`;
  const atHost = ofHost ? ' Only keys of the default tenant have it here.' : '';
  route.schema = {
    ...schema,
    description: `${description} ${needs}${atHost}`.trim(),
    querystring: ofHost || access === 'known' ? querystring : querystring.safeExtend({ tenant }),
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
  .describe('Act for this tenant; only an admin key of the default tenant may name another.');

async function actedFor(
  { query }: FastifyRequest,
  { home, scopes }: Caller,
  callers: Callers,
): Promise<string> {
  const asked = (query as { tenant?: unknown }).tenant;
  // What is no name is refused with the rest of the query, where its shape is known.
  if (typeof asked !== 'string' || asked === home || !TENANT_SHAPE.test(asked)) return home;
  if (!mayActFor(home, scopes, asked)) {
    throw forbidden('only an admin key of the default tenant may act for another tenant');
  }
  if (await callers.hasTenant(asked)) return asked;
  throw new Refusal('NOT_FOUND', `there is no tenant ${JSON.stringify(asked)}`);
}

function lacking(scope: Scope): Refusal {
  return forbidden(`the key lacks the scope ${scope}`);
}

function notForJobs(scope: Scope): Refusal {
  return forbidden(
    `a process of a job may not do what needs the scope ${scope} while the server has no keys: make ` +
      'them with "longshore keys create --scope admin" from outside, and give the job one of its own',
  );
}

function forbidden(detail: string): Refusal {
  return new Refusal('FORBIDDEN', detail);
}
