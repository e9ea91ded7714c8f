import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { TenantParams } from '../../protocol/answers/limit-answer.ts';
import { TenantLimitsBody } from '../../protocol/requests/limit-body.ts';
import { TenantAnswer, TenantsAnswer } from '../../protocol/answers/key-answer.ts';
import { TenantBody } from '../../protocol/requests/key-body.ts';
import { parseBody } from '../../protocol/requests/parse-body.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { changeTenant, createTenant, listTenants } from '../../store/access/tenants.ts';
import { actorOf } from '../access/caller.ts';
import type { HttpDeps } from '../deps.ts';
import { answer, bodyRefusals, refusals } from '../openapi.ts';

const CREATE = {
  operationId: 'createTenant',
  tags: ['access'],
  summary: 'Make a tenant',
  description: 'A name that is taken answers 409. Its keys are made by POST /v1/keys?tenant=NAME.',
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
  description: 'With their limits, their weights, and what is paused.',
  response: { 200: answer('The tenants.', TenantsAnswer), ...refusals('UNAVAILABLE') },
};

const LIMIT = {
  operationId: 'changeTenantLimits',
  tags: ['flow'],
  summary: 'Change what a tenant gets',
  description: 'How many of its jobs run at a time, and its share of the claims. At once, for all.',
  params: TenantParams,
  body: TenantLimitsBody,
  response: {
    200: answer('The tenant as it is now.', TenantAnswer),
    ...bodyRefusals('NOT_FOUND'),
  },
};

export function tenantsRoutes(app: FastifyInstance, { db }: HttpDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const config = { access: 'admin', ofHost: true } as const;

  app.post('/v1/tenants', { schema: CREATE, config }, async (request, reply) => {
    const { tenant } = parseBody(TenantBody, request.body);
    const made = await createTenant(db, actorOf(request), tenant);
    if (!made) throw new Refusal('CONFLICT', `there is a tenant ${JSON.stringify(tenant)} already`);
    return reply.code(201).send(made);
  });

  app.get('/v1/tenants', { schema: LIST, config }, async () => ({
    tenants: await listTenants(db),
  }));

  typed.patch('/v1/tenants/:tenant/limits', { schema: LIMIT, config }, async (request) => {
    const { tenant } = request.params;
    const change = parseBody(TenantLimitsBody, request.body);
    return (await changeTenant(db, tenant, change, actorOf(request))) ?? noSuchTenant(tenant);
  });
}

export function noSuchTenant(tenant: string): never {
  throw new Refusal('NOT_FOUND', `there is no tenant ${JSON.stringify(tenant.slice(0, 63))}`);
}
