import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { SecretAnswer, SecretsAnswer } from '../../protocol/answers/secret-answer.ts';
import { parseBody } from '../../protocol/requests/parse-body.ts';
import { parseNothing } from '../../protocol/requests/parse-nothing.ts';
import {
  SecretBody,
  secretNameViolation,
  SecretParams,
  SecretQuery,
  SecretsQuery,
} from '../../protocol/requests/secret-body.ts';
import { Refusal } from '../../protocol/refusal.ts';
import {
  deleteSecret,
  listSecrets,
  NoEncryptionKey,
  putSecret,
  TooManySecrets,
} from '../../store/access/secrets.ts';
import { actorOf } from '../access/caller.ts';
import { tenantOf } from '../access/tenant.ts';
import type { HttpDeps } from '../deps.ts';
import { answer, bodyRefusals, refusals } from '../openapi.ts';

const LIST = {
  operationId: 'listSecrets',
  tags: ['access'],
  summary: 'List secrets',
  description: 'Names and scopes; values are in no answer.',
  querystring: SecretsQuery,
  response: { 200: answer('The secrets.', SecretsAnswer), ...refusals('UNAVAILABLE') },
};

const PUT = {
  operationId: 'setSecret',
  tags: ['access'],
  summary: 'Set a secret',
  description:
    'Creates a secret, or replaces its value. Jobs that start afterwards get it as an environment ' +
    'variable. The server needs an encryption key. May be repeated.',
  params: SecretParams,
  body: SecretBody,
  response: {
    200: answer('The secret, without its value.', SecretAnswer),
    ...bodyRefusals('CONFLICT', 'NO_ENCRYPTION_KEY'),
  },
};

const DELETE = {
  operationId: 'deleteSecret',
  tags: ['access'],
  summary: 'Delete a secret',
  description: 'Jobs that start afterwards do not get it.',
  params: SecretParams,
  querystring: SecretQuery,
  response: { 204: z.null().describe('The secret was deleted.'), ...bodyRefusals('NOT_FOUND') },
};

export function secretsRoutes(app: FastifyInstance, { db }: HttpDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const config = { access: 'admin' } as const;

  typed.get('/v1/secrets', { schema: LIST, config }, async (request) => ({
    secrets: await listSecrets(db, tenantOf(request), request.query.definitionKey ?? null),
  }));

  typed.put('/v1/secrets/:secretName', { schema: PUT, config }, async (request) => {
    const { secretName: name } = request.params;
    const violation = secretNameViolation(name);
    if (violation) {
      const errors = [violation];
      throw new Refusal('VALIDATION_FAILED', `/name: ${violation.detail}`, { errors });
    }
    const { value, definitionKey } = parseBody(SecretBody, request.body);
    const subject = { name, definitionKey };
    return await putSecret(db, actorOf(request), tenantOf(request), subject, value).catch(refuse);
  });

  typed.delete('/v1/secrets/:secretName', { schema: DELETE, config }, async (request, reply) => {
    parseNothing(request.body);
    const { secretName: name } = request.params;
    const { definitionKey = null } = request.query;
    const subject = { name, definitionKey };
    const deleted = await deleteSecret(db, actorOf(request), tenantOf(request), subject);
    if (!deleted) throw noSuchSecret(name, definitionKey);
    return reply.code(204).send(null);
  });
}

function refuse(error: unknown): never {
  if (error instanceof TooManySecrets) throw new Refusal('CONFLICT', error.message);
  if (!(error instanceof NoEncryptionKey)) throw error;
  throw new Refusal(
    'NO_ENCRYPTION_KEY',
    'this server stores no secrets, because it has no encryption key: set LONGSHORE_ENCRYPTION_KEYS ' +
      'for the API and all workers with a database connection',
  );
}

function noSuchSecret(name: string, definitionKey: string | null): Refusal {
  const scope = definitionKey === null ? 'for all definitions' : `of ${definitionKey}`;
  return new Refusal(
    'NOT_FOUND',
    `secret ${JSON.stringify(name.slice(0, 128))} ${scope} not found`,
  );
}
