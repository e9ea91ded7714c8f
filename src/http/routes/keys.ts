import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { KeyIdParams, KeysAnswer, MadeKeyAnswer } from '../../protocol/answers/key-answer.ts';
import { KeyBody, RotateBody } from '../../protocol/requests/key-body.ts';
import { parseBody } from '../../protocol/requests/parse-body.ts';
import { parseNothing } from '../../protocol/requests/parse-nothing.ts';
import { FIRST_KEY_NEEDS_ADMIN, mayBeFirstKey, mayDo } from '../../core/access/scope.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { createKey, listKeys, revokeKey, rotateKey } from '../../store/access/keys.ts';
import { actorOf, callerOf } from '../access/caller.ts';
import type { HttpDeps } from '../deps.ts';
import { answer, bodyRefusals, refusals } from '../openapi.ts';
import { tenantOf } from '../access/tenant.ts';

const changing = bodyRefusals('NOT_FOUND', 'CONFLICT');

const CREATE = {
  operationId: 'createKey',
  tags: ['access'],
  summary: 'Create a key',
  description:
    'Only this response contains the key itself. The first key of an open server must have the ' +
    'scope admin and be of the default tenant.',
  body: KeyBody,
  response: { 201: answer('The key.', MadeKeyAnswer), ...changing },
};

const LIST = {
  operationId: 'listKeys',
  tags: ['access'],
  summary: 'List keys',
  description: 'Includes revoked and expired keys.',
  response: { 200: answer('The keys.', KeysAnswer), ...refusals('UNAVAILABLE') },
};

const ROTATE = {
  operationId: 'rotateKey',
  tags: ['access'],
  summary: 'Rotate a key',
  description:
    'Creates a key with the same scopes. The old key stays valid for the overlap, so that clients ' +
    'can switch one by one. A revoked, expired or already rotated key returns 409.',
  params: KeyIdParams,
  body: RotateBody,
  response: { 201: answer('The new key.', MadeKeyAnswer), ...changing },
};

const REVOKE = {
  operationId: 'revokeKey',
  tags: ['access'],
  summary: 'Revoke a key',
  description:
    'Revokes the key and its sessions, effective in all processes within a second. May be ' +
    'repeated.',
  params: KeyIdParams,
  response: { 204: z.null().describe('The key was revoked.'), ...changing },
};

export function keysRoutes(app: FastifyInstance, { db }: HttpDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const config = { access: 'admin' } as const;

  app.post('/v1/keys', { schema: CREATE, config }, async (request, reply) => {
    const { expiresAt = null, ...fields } = parseBody(KeyBody, request.body);
    if (fields.definitions && !mayDo(fields.scopes, 'worker')) throw unusedPatterns();
    const tenant = tenantOf(request);
    if (callerOf(request).kind === 'open' && !mayBeFirstKey(tenant, fields.scopes)) {
      throw firstKeyRefused();
    }
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

function unusedPatterns(): Refusal {
  const detail = 'needs the scope worker: it limits nothing else';
  const errors = [{ pointer: '/definitions', detail }];
  return new Refusal('VALIDATION_FAILED', `/definitions: ${detail}`, { errors });
}

function firstKeyRefused(): Refusal {
  const errors = [{ pointer: '/scopes', detail: FIRST_KEY_NEEDS_ADMIN }];
  return new Refusal('VALIDATION_FAILED', FIRST_KEY_NEEDS_ADMIN, { errors });
}

function noSuchKey(keyId: string): never {
  throw new Refusal('NOT_FOUND', `key ${JSON.stringify(keyId.slice(0, 60))} not found`);
}
