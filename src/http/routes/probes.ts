import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { ProbeQuery } from '../../protocol/requests/job-query.ts';
import { ProbeAnswer } from '../../protocol/answers/probe-answer.ts';
import { systemClock } from '../../runtime/clock.ts';
import { withDeadline } from '../../runtime/deadline.ts';
import type { HttpDeps } from '../deps.ts';
import { FreshAnswers } from '../access/fresh-answers.ts';
import { answer, refusals } from '../openapi.ts';
import { unavailable } from '../problem.ts';

/** Timeout, because a hanging probe is worse than a failing one. */
const PING_LIMIT_MS = 2_000;
const PING_FRESH_MS = 1_000;

const LIVE = {
  operationId: 'livez',
  tags: ['server'],
  summary: 'Is the process alive?',
  description: 'Checks only the process: a database outage is no reason to restart it.',
  response: { 200: answer('The process is alive.', ProbeAnswer), ...refusals() },
};

const ready = (operationId: string, summary: string) => ({
  operationId,
  tags: ['server'],
  summary,
  description:
    'Ready if the database responds, the worker of `longshore start` has registered its ' +
    'definitions, and the server is not draining.',
  querystring: ProbeQuery,
  response: { 200: answer('The server is ready.', ProbeAnswer), ...refusals('UNAVAILABLE') },
});

export function probeRoutes(app: FastifyInstance, deps: HttpDeps, leaving: AbortSignal): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const config = { quiet: true, access: 'public' } as const;

  // Probes are public, so the database is queried at most once per second.
  const pings = new FreshAnswers<number>(systemClock, PING_FRESH_MS);

  typed.get('/livez', { schema: LIVE, config }, () => ({ status: 'ok' as const }));

  for (const [url, schema] of [
    ['/readyz', ready('readyz', 'Is the server ready?')],
    ['/healthz', ready('healthz', 'The same as /readyz')],
  ] as const) {
    typed.get(url, { schema, config }, async (request): Promise<ProbeAnswer> => {
      const checks = await look(deps, pings, leaving);
      const verbose = (request.query.verbose ?? 'false') !== 'false';
      return verbose ? { status: 'ok', version: deps.version, checks } : { status: 'ok' };
    });
  }
}

async function look(
  { db, notReady }: HttpDeps,
  pings: FreshAnswers<number>,
  leaving: AbortSignal,
): Promise<{ name: string; ok: true; durationMs: number }[]> {
  if (leaving.aborted) throw unavailable('the server is draining');
  const durationMs = await pings
    .get('database', async () => {
      const startedMs = systemClock.monotonicMs();
      await withDeadline(db.ping(), PING_LIMIT_MS, 'the ping');
      return Math.round(systemClock.monotonicMs() - startedMs);
    })
    .catch(() => {
      throw unavailable('the database does not respond');
    });
  const reason = notReady?.() ?? null;
  if (reason !== null) throw unavailable(reason);
  return [{ name: 'database', ok: true, durationMs }];
}
