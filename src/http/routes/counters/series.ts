import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { MINUTE_MS } from '../../../core/values/duration.ts';
import { planSeries, SERIES_DAYS_MAX } from '../../../core/series/series-plan.ts';
import { seriesView } from '../../../core/series/series.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import {
  SERIES_MINUTES_DEFAULT,
  SeriesAnswer,
  SeriesQuery,
} from '../../../protocol/answers/series-answer.ts';
import { readSeries } from '../../../store/counters/read-series.ts';
import { readClock } from '../../../store/counters/read-stats.ts';
import { callerOf } from '../../access/caller.ts';
import type { HttpDeps } from '../../deps.ts';
import { answer, refusals } from '../../openapi.ts';

const SERIES = {
  operationId: 'series',
  tags: ['server'],
  summary: 'Get what happened over time',
  description:
    'Throughput by outcome, queue depth, and percentiles of wait and run times of one definition or ' +
    'of all, for charts: up to 31 days, with the finest step that gives about 120 points at most. ' +
    'Read from counters, at most two seconds old, so the cost does not depend on the number of jobs. ' +
    'Excludes hooks and webhook deliveries.',
  querystring: SeriesQuery,
  response: { 200: answer('The series.', SeriesAnswer), ...refusals('UNAVAILABLE') },
};

export function seriesRoutes(app: FastifyInstance, { db }: HttpDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const config = { access: 'jobs:read' } as const;

  typed.get('/v1/series', { schema: SERIES, config }, async (request) => {
    const { definitionKey = null, minutes = SERIES_MINUTES_DEFAULT, ...asked } = request.query;
    const at = await readClock(db);
    const to = asked.to ?? at;
    const from = asked.from ?? new Date(to.getTime() - minutes * MINUTE_MS);
    const plan = planSeries(from, to, at) ?? refuseRange();
    const rows = await readSeries(db, callerOf(request).tenant, definitionKey, plan, at);
    const histograms = asked.histograms === 'true';
    return seriesView(rows, plan, { at, definitionKey, histograms });
  });
}

function refuseRange(): never {
  const detail = `must be before to, and at most ${SERIES_DAYS_MAX} days ago`;
  const errors = [{ pointer: '/from', detail }];
  throw new Refusal('VALIDATION_FAILED', `/from: ${detail}`, { errors });
}
