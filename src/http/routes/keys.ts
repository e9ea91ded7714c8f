import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { KeyIdParams, KeysAnswer, MadeKeyAnswer } from '../../protocol/answers/key-answer.ts';
import { KeyBody, RotateBody } from '../../protocol/requests/key-body.ts';
import { parseBody } from '../../protocol/requests/parse-body.ts';
import { parseNothing } from '../../protocol/requests/parse-nothing.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { createKey, listKeys, revokeKey, rotateKey } from '../../store/access/keys.ts';
import { actorOf } from '../access/caller.ts';
import type { HttpDeps } from '../deps.ts';
import { answer, bodyRefusals, refusals } from '../openapi.ts';
import { tenantOf } from '../access/tenant.ts';

const changing = bodyRefusals('NOT_FOUND', 'CONFLICT');

const CREATE = {
  operationId: 'createKey',
  tags: ['access'],
  summary: 'Make a key',
  description: 'The answer is the only place where the key itself is ever seen.',
  body: KeyBody,
  response: { 201: answer('The key.', MadeKeyAnswer), ...changing },
};

const LIST = {
  operationId: 'listKeys',
  tags: ['access'],
  summary: 'List keys',
  description: 'Those that are revoked and expired too.',
  response: { 200: answer('The keys.', KeysAnswer), ...refusals('UNAVAILABLE') },
};

const ROTATE = {
  operationId: 'rotateKey',
  tags: ['access'],
  summary: 'Replace a key',
  description:
    'Makes a key that may do the same. The old one goes on for the overlap, so that its users can ' +
    'change over one by one. A key that is revoked, expired or rotated already answers 409.',
  params: KeyIdParams,
  body: RotateBody,
  response: { 201: answer('The new key.', MadeKeyAnswer), ...changing },
};

const REVOKE = {
  operationId: 'revokeKey',
  tags: ['access'],
  summary: 'Revoke a key',
  description:
    'For good, with every session that began with it, everywhere within a second. Asking again ' +
    'is fine.',
  params: KeyIdParams,
  response: { 204: z.null().describe('It is refused from now on.'), ...changing },
};

export function keysRoutes(app: FastifyInstance, { db }: HttpDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const config = { access: 'admin' } as const;

  app.post('/v1/keys', { schema: CREATE, config }, async (request, reply) => {
    const { expiresAt = null, ...fields } = parseBody(KeyBody, request.body);
    const tenant = tenantOf(request);
    const made = await createKey(db, actorOf(request), { ...fields, tenant, expiresAt });
    return reply.code(201).send(made);
  });

  app.get('/v1/keys', { schema: LIST, config }, async (request) => ({
    keys: await listKeys(db, tenantOf(request)),
  }));

  typed.post('/v1/keys/:keyId/rotate', { schema: ROTATE, config }, async (request, reply) => {
    const { keyId } = request.params;
    const { overlapSeconds } = parseBody(RotateBody, request.body);
    const overlapMs = overlapSeconds * 1_000;
    const made = await rotateKey(db, actorOf(request), tenantOf(request), keyId, overlapMs);
    if (made === null) return noSuchKey(keyId);
    if (typeof made === 'string') throw new Refusal('CONFLICT', `the key is ${made}`);
    return reply.code(201).send(made);
  });

  typed.delete('/v1/keys/:keyId', { schema: REVOKE, config }, async (request, reply) => {
    const { keyId } = request.params;
    parseNothing(request.body);
    const known = await revokeKey(db, actorOf(request), tenantOf(request), keyId);
    if (!known) return noSuchKey(keyId);
    return reply.code(204).send(null);
  });
}

function noSuchKey(keyId: string): never {
  throw new Refusal('NOT_FOUND', `there is no key ${JSON.stringify(keyId.slice(0, 60))}`);
}
