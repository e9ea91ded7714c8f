import type { FastifyInstance } from 'fastify';
import type { RunDueSummary } from '../../core/queue/run-due.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { parseRunDue, RunDueAnswer, RunDueBody } from '../../protocol/run-due.ts';
import type { HttpDeps } from '../deps.ts';
import { answer, bodyRefusals } from '../openapi.ts';
import { unavailable } from '../problem.ts';
import { tenantOf } from '../access/tenant.ts';

/**
 * Each run starts its own processes, so their number is limited. Two suffice for a call per minute
 * whose predecessor still runs.
 */
const RUNS_MAX = 2;

const RUN = {
  operationId: 'runDueJobs',
  tags: ['dialects'],
  summary: 'Run due jobs',
  description:
    'Runs due jobs within a budget, as scheduler and worker, and responds when it is finished: ' +
    'for callers such as cron that call it every minute. Two concurrent calls, or workers beside ' +
    'it, run no job twice; a third concurrent call is refused. Jobs still running at the end of ' +
    'the budget return to their queue, which uses no attempt. A job of `POST /api/jobs/enqueue` without a ' +
    'worker fails if it belongs to the tenant of the caller. The run continues if the caller ' +
    'disconnects. The body is optional.',
  body: RunDueBody,
  response: {
    200: answer('The result.', RunDueAnswer),
    ...bodyRefusals('NO_LOCAL_WORKER'),
  },
};

export function runDueRoutes(
  app: FastifyInstance,
  { runDue }: HttpDeps,
  leaving: AbortSignal,
): void {
  const underWay = new Set<Promise<RunDueSummary>>();
  // A connection may close before its run ends; the server stops after both.
  app.addHook('onClose', async () => void (await Promise.allSettled(underWay)));

  app.post(
    '/api/jobs/run',
    { schema: RUN, config: { access: 'operate', ofDefaultTenant: true } },
    async (request) => {
      const budget = parseRunDue(request.body);
      if (!runDue) {
        const advice =
          'call a server started with `npx longshore start`, or run `npx longshore run-due`';
        throw new Refusal('NO_LOCAL_WORKER', `this process has no worker: ${advice}`);
      }
      if (leaving.aborted) throw unavailable('the server is draining');
      if (underWay.size >= RUNS_MAX) {
        throw unavailable(`${RUNS_MAX} runs are in progress; try again later`);
      }
      // The connection is idle until the response, so its timeout is disabled for this request
      // only.
      request.raw.setTimeout(0);
      const run = runDue(budget, { tenant: tenantOf(request), signal: leaving });
      underWay.add(run);
      try {
        return await run;
      } finally {
        underWay.delete(run);
      }
    },
  );
}
