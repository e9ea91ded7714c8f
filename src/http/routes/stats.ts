import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { statsView } from '../../core/views/stats.ts';
import { StatsAnswer, StatsQuery } from '../../protocol/answers/stats-answer.ts';
import { readStats } from '../../store/counters/read-stats.ts';
import { callerOf } from '../access/caller.ts';
import type { HttpDeps } from '../deps.ts';
import { answer, refusals } from '../openapi.ts';

const STATS = {
  operationId: 'stats',
  tags: ['server'],
  summary: 'See how the queues are doing',
  description:
    'How many jobs there are, by definition and state; how long they wait and run, how they end; and ' +
    'what happened in each minute of the last day. It is at most a second or two behind, and is never ' +
    'counted, so it costs the same however many jobs there are. Hooks and deliveries are left out.',
  querystring: StatsQuery,
  response: { 200: answer('The figures.', StatsAnswer), ...refusals('UNAVAILABLE') },
};

/** Of the configuration, unless somebody says otherwise. */
const UNHANDLED_AFTER_MS = 60_000;

export function statsRoutes(
  app: FastifyInstance,
  { db, unhandledAfterMs = UNHANDLED_AFTER_MS }: HttpDeps,
): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const config = { access: 'jobs:read' } as const;

  typed.get('/v1/stats', { schema: STATS, config }, async (request) => {
    const { query } = request;
    const rows = await readStats(db, callerOf(request).tenant, query);
    return statsView(rows, { ...query, unhandledAfterMs });
  });
}
