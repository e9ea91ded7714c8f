import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { ProbeQuery } from '../../protocol/job-query.ts';
import { ProbeAnswer } from '../../protocol/probe-answer.ts';
import { systemClock } from '../../runtime/clock.ts';
import { withDeadline } from '../../runtime/deadline.ts';
import type { HttpDeps } from '../deps.ts';
import { answer, refusals } from '../openapi.ts';
import { unavailable } from '../problem.ts';

/** A probe that hangs is worse than one that says no. */
const PING_LIMIT_MS = 2_000;

const LIVE = {
  operationId: 'livez',
  tags: ['server'],
  summary: 'Is the process alive?',
  description: 'Looks at nothing else: a database outage is no reason to restart this process.',
  response: { 200: answer('It is.', ProbeAnswer), ...refusals() },
};

const ready = (operationId: string, summary: string) => ({
  operationId,
  tags: ['server'],
  summary,
  description:
    'The database answers, the worker of `longshore start` has registered its definitions, and the ' +
    'server is not draining.',
  querystring: ProbeQuery,
  response: { 200: answer('It can.', ProbeAnswer), ...refusals('UNAVAILABLE') },
});

export function probeRoutes(app: FastifyInstance, deps: HttpDeps, leaving: AbortSignal): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const config = { quiet: true, access: 'public' } as const;

  typed.get('/livez', { schema: LIVE, config }, () => ({ status: 'ok' as const }));

  for (const [url, schema] of [
    ['/readyz', ready('readyz', 'Can the server do its work?')],
    ['/healthz', ready('healthz', 'The same as /readyz')],
  ] as const) {
    typed.get(url, { schema, config }, async (request): Promise<ProbeAnswer> => {
      const checks = await look(deps, leaving);
      const verbose = (request.query.verbose ?? 'false') !== 'false';
      return verbose ? { status: 'ok', version: deps.version, checks } : { status: 'ok' };
    });
  }
}

async function look(
  { db, notReady }: HttpDeps,
  leaving: AbortSignal,
): Promise<{ name: string; ok: true; durationMs: number }[]> {
  if (leaving.aborted) throw unavailable('the server is draining');
  const startedMs = systemClock.monotonicMs();
  try {
    await withDeadline(db.ping(), PING_LIMIT_MS, 'the ping');
  } catch {
    throw unavailable('the database does not answer');
  }
  const reason = notReady?.() ?? null;
  if (reason !== null) throw unavailable(reason);
  const durationMs = Math.round(systemClock.monotonicMs() - startedMs);
  return [{ name: 'database', ok: true, durationMs }];
}
