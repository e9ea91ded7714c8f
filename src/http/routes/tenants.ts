import type { FastifyInstance } from 'fastify';
import { TenantAnswer, TenantsAnswer } from '../../protocol/key-answer.ts';
import { TenantBody } from '../../protocol/key-body.ts';
import { parseBody } from '../../protocol/parse-body.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { createTenant, listTenants } from '../../store/tenants.ts';
import { actorOf } from '../caller.ts';
import type { HttpDeps } from '../deps.ts';
import { answer, refusals } from '../openapi.ts';

const CREATE = {
  operationId: 'createTenant',
  tags: ['access'],
  summary: 'Make a tenant',
  description: 'A name that is taken answers 409. Its keys are made by POST /v1/keys?tenant=NAME.',
  body: TenantBody,
  response: {
    201: answer('The tenant.', TenantAnswer),
    ...refusals(
      'INVALID_JSON',
      'CONFLICT',
      'PAYLOAD_TOO_LARGE',
      'UNSUPPORTED_MEDIA_TYPE',
      'UNAVAILABLE',
    ),
  },
};

const LIST = {
  operationId: 'listTenants',
  tags: ['access'],
  summary: 'List tenants',
  response: { 200: answer('The tenants.', TenantsAnswer), ...refusals('UNAVAILABLE') },
};

export function tenantsRoutes(app: FastifyInstance, { db }: HttpDeps): void {
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
}
