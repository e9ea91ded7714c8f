import type { FastifyInstance } from 'fastify';
import { isSystemKey } from '../../core/hooks.ts';
import { definitionAnswer, DefinitionsAnswer } from '../../protocol/definition-answer.ts';
import { listDefinitions } from '../../store/definitions.ts';
import type { HttpDeps } from '../deps.ts';
import { answer, refusals } from '../openapi.ts';

const LIST = {
  operationId: 'listDefinitions',
  tags: ['definitions'],
  summary: 'List what can run',
  description: 'Every definition that a worker has ever published, by key and version.',
  response: { 200: answer('The definitions.', DefinitionsAnswer), ...refusals('UNAVAILABLE') },
};

export function definitionsRoutes(app: FastifyInstance, { db }: HttpDeps): void {
  app.get('/v1/definitions', { schema: LIST, config: { access: 'jobs:read' } }, async () => ({
    definitions: (await listDefinitions(db))
      .filter(({ key }) => !isSystemKey(key))
      .map(definitionAnswer),
  }));
}
