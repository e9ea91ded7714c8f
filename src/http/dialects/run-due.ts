import type { FastifyInstance } from 'fastify';
import type { RunDueSummary } from '../../core/queue/run-due.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { parseRunDue, RunDueAnswer, RunDueBody } from '../../protocol/run-due.ts';
import type { HttpDeps } from '../deps.ts';
import { answer, bodyRefusals } from '../openapi.ts';
import { unavailable } from '../problem.ts';
import { tenantOf } from '../access/tenant.ts';

/**
 * Each run has processes of its own, so a caller in a hurry could fill the machine with them. Two
 * are enough for a call every minute whose forerunner has not ended yet.
 */
const RUNS_MAX = 2;

const RUN = {
  operationId: 'runDueJobs',
  tags: ['dialects'],
  summary: 'Run what is due now',
  description:
    'Does what schedulers and workers would do now, within a budget, and answers when that is ' +
    'done: for who calls it every minute. Calling it twice at once, or beside workers, runs no ' +
    'job twice; a third call at once is refused. What still runs when the time is over is given ' +
    'back, which costs no attempt. A job of `POST /api/jobs/enqueue` that no worker has the code ' +
    'for fails, if it is of the tenant of the caller. The run goes on when the caller hangs up. ' +
    'A body is not needed.',
  body: RunDueBody,
  response: {
    200: answer('What was done.', RunDueAnswer),
    ...bodyRefusals('NO_LOCAL_WORKER'),
  },
};

export function runDueRoutes(
  app: FastifyInstance,
  { runDue }: HttpDeps,
  leaving: AbortSignal,
): void {
  const underWay = new Set<Promise<RunDueSummary>>();
  // A connection may be gone before its run: the server has not stopped until both have ended.
  app.addHook('onClose', async () => void (await Promise.allSettled(underWay)));

  app.post(
    '/api/jobs/run',
    { schema: RUN, config: { access: 'operate', ofHost: true } },
    async (request) => {
      const budget = parseRunDue(request.body);
      if (!runDue) {
        const advice = 'call a server started with `longshore start`, or run `longshore run-due`';
        throw new Refusal('NO_LOCAL_WORKER', `this server serves the API only: ${advice}`);
      }
      if (leaving.aborted) throw unavailable('the server is draining');
      if (underWay.size >= RUNS_MAX) {
        throw unavailable(`${RUNS_MAX} runs are under way here; try again when one has ended`);
      }
      // Nothing moves on the connection until the answer; the server would take it for a dead one.
      // For the next request on it the usual timeout holds again.
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
