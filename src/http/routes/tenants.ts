import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { DEFAULT_TENANT, tenantNotFound } from '../../core/access/scope.ts';
import { TenantParams } from '../../protocol/answers/limit-answer.ts';
import { TenantLimitsBody } from '../../protocol/requests/limit-body.ts';
import { TenantAnswer, TenantsAnswer } from '../../protocol/answers/key-answer.ts';
import { TenantBody } from '../../protocol/requests/key-body.ts';
import { parseBody } from '../../protocol/requests/parse-body.ts';
import { Refusal } from '../../protocol/refusal.ts';
import {
  changeTenant,
  createTenant,
  findTenant,
  listTenants,
  tenantNames,
} from '../../store/access/tenants.ts';
import type { Queryable } from '../../store/connection/db.ts';
import { actorOf, callerOf } from '../access/caller.ts';
import type { HttpDeps } from '../deps.ts';
import { answer, bodyRefusals, refusals } from '../openapi.ts';

const CREATE = {
  operationId: 'createTenant',
  tags: ['access'],
  summary: 'Create a tenant',
  description: 'An existing name returns 409. Create its keys with POST /v1/keys?tenant=NAME.',
  body: TenantBody,
  response: {
    201: answer('The tenant.', TenantAnswer),
    ...bodyRefusals('CONFLICT'),
  },
};

const LIST = {
  operationId: 'listTenants',
  tags: ['access'],
  summary: 'List tenants',
  description: 'With limits, weights and pauses.',
  response: { 200: answer('The tenants.', TenantsAnswer), ...refusals('UNAVAILABLE') },
};

const OWN = {
  operationId: 'getTenant',
  tags: ['access'],
  summary: 'Get your tenant',
  description:
    'The tenant that you act for, with its limit, how much of it is in use, and its pause.',
  response: {
    200: answer('The tenant.', TenantAnswer),
    ...refusals('NOT_FOUND', 'UNAVAILABLE'),
  },
};

const LIMIT = {
  operationId: 'changeTenantLimits',
  tags: ['flow'],
  summary: 'Change the limits of a tenant',
  description: 'Its concurrency limit and its weight. Takes effect at once.',
  params: TenantParams,
  body: TenantLimitsBody,
  response: {
    200: answer('The tenant.', TenantAnswer),
    ...bodyRefusals('NOT_FOUND'),
  },
};

export function tenantsRoutes(app: FastifyInstance, { db }: HttpDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const config = { access: 'admin', ofDefaultTenant: true } as const;

  app.post('/v1/tenants', { schema: CREATE, config }, async (request, reply) => {
    const { tenant } = parseBody(TenantBody, request.body);
    const made = await createTenant(db, actorOf(request), tenant);
    if (!made) throw new Refusal('CONFLICT', `tenant ${JSON.stringify(tenant)} already exists`);
    return reply.code(201).send(made);
  });

  app.get('/v1/tenants', { schema: LIST, config }, async () => ({
    tenants: await listTenants(db),
  }));

  app.get('/v1/tenant', { schema: OWN, config: { access: 'jobs:read' } }, async (request) => {
    const { home, tenant } = callerOf(request);
    const { paused, ...own } = (await findTenant(db, tenant)) ?? noSuchTenant(tenant);
    const seesActor = home === DEFAULT_TENANT;
    return { ...own, paused: paused && { ...paused, by: seesActor ? paused.by : null } };
  });

  typed.patch('/v1/tenants/:tenant/limits', { schema: LIMIT, config }, async (request) => {
    const { tenant } = request.params;
    const change = parseBody(TenantLimitsBody, request.body);
    const changed = await changeTenant(db, tenant, change, actorOf(request));
    return changed ?? (await unknownTenant(db, tenant));
  });
}

function noSuchTenant(tenant: string): never {
  throw new Refusal('NOT_FOUND', tenantNotFound(tenant));
}

/** For admins of the default tenant, who see all tenants. */
export async function unknownTenant(db: Queryable, tenant: string): Promise<never> {
  throw new Refusal('NOT_FOUND', tenantNotFound(tenant, await tenantNames(db)));
}
