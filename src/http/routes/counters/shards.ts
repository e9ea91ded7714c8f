import type { FastifyInstance } from 'fastify';
import { shardsView } from '../../../core/shards/shards.ts';
import { ShardsAnswer } from '../../../protocol/answers/shards-answer.ts';
import { readShards } from '../../../store/counters/read-shards.ts';
import type { HttpDeps } from '../../deps.ts';
import { answer, refusals } from '../../openapi.ts';

const SHARDS = {
  operationId: 'listShards',
  tags: ['server'],
  summary: 'List the shards with their load',
  description:
    'Where each shard lives, its jobs by state, the wait of its oldest queued job, its rates and its ' +
    'workers, of all tenants together. Read from counters, at most two seconds old, so the cost does ' +
    'not depend on the number of jobs. A shard that cannot be read has a problem and no numbers; ' +
    'the others are still listed.',
  response: { 200: answer('The shards.', ShardsAnswer), ...refusals('UNAVAILABLE') },
};

/** The numbers are of all tenants, like those of `/metrics`. */
export function shardsRoutes(app: FastifyInstance, { db }: HttpDeps): void {
  const config = { access: 'operate', ofDefaultTenant: true } as const;
  app.get('/v1/shards', { schema: SHARDS, config }, async () => {
    const { shards, ...window } = await readShards(db);
    return shardsView(window, shards);
  });
}
