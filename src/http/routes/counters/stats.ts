import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { statsView } from '../../../core/views/stats.ts';
import { StatsAnswer, StatsQuery } from '../../../protocol/answers/stats-answer.ts';
import { readStats } from '../../../store/counters/read-stats.ts';
import { callerOf } from '../../access/caller.ts';
import type { HttpDeps } from '../../deps.ts';
import { answer, refusals } from '../../openapi.ts';

const STATS = {
  operationId: 'stats',
  tags: ['server'],
  summary: 'Get statistics of the queues',
  description:
    'Job counts by definition and state, queue and run times, success rates, and the throughput per ' +
    'minute of the last day. Read from counters, at most two seconds old, so the cost does not ' +
    'depend on the number of jobs. Excludes hooks and webhook deliveries.',
  querystring: StatsQuery,
  response: { 200: answer('The statistics.', StatsAnswer), ...refusals('UNAVAILABLE') },
};

/** Default of LONGSHORE_UNSERVED_AFTER_MS. */
const UNSERVED_AFTER_MS = 60_000;

export function statsRoutes(
  app: FastifyInstance,
  { db, unservedAfterMs = UNSERVED_AFTER_MS }: HttpDeps,
): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const config = { access: 'jobs:read' } as const;

  typed.get('/v1/stats', { schema: STATS, config }, async (request) => {
    const { query } = request;
    const rows = await readStats(db, callerOf(request).tenant, query);
    return statsView(rows, { ...query, unservedAfterMs });
  });
}
