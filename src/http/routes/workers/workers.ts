import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { DEFAULT_TENANT, mayDo } from '../../../core/access/scope.ts';
import { parseNothing } from '../../../protocol/requests/parse-nothing.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import {
  DrainAnswer,
  WorkerIdParams,
  WorkersAnswer,
} from '../../../protocol/answers/worker-answer.ts';
import { drainWorker } from '../../../store/workers/drain-worker.ts';
import { listWorkers } from '../../../store/workers/list-workers.ts';
import { actorOf, callerOf } from '../../access/caller.ts';
import type { HttpDeps } from '../../deps.ts';
import { answer, bodyRefusals, refusals } from '../../openapi.ts';

const LIST = {
  operationId: 'listWorkers',
  tags: ['workers'],
  summary: 'List workers',
  description:
    'Workers and those of your jobs that they run; an admin of the default tenant sees all jobs. ' +
    'Stopped workers are listed for a day.',
  response: { 200: answer('The workers.', WorkersAnswer), ...refusals('UNAVAILABLE') },
};

const DRAIN = {
  operationId: 'drainWorker',
  tags: ['workers'],
  summary: 'Drain a worker',
  description:
    'The worker claims no more jobs, finishes its running jobs, releases those that do not finish ' +
    'within LONGSHORE_DRAIN_MS, and exits; `longshore start` then starts a new one. May be ' +
    'repeated. A dead worker returns 409.',
  params: WorkerIdParams,
  response: {
    202: answer('The worker drains.', DrainAnswer),
    ...bodyRefusals('NOT_FOUND', 'CONFLICT'),
  },
};

const READS = { access: 'jobs:read' } as const;
const DRAINS = { access: 'operate', ofDefaultTenant: true } as const;

export function workersRoutes(app: FastifyInstance, { db }: HttpDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  typed.get('/v1/workers', { schema: LIST, config: READS }, async (request) => {
    const { home, tenant, scopes } = callerOf(request);
    const seesAll = tenant === DEFAULT_TENANT && home === DEFAULT_TENANT && mayDo(scopes, 'admin');
    return { workers: await listWorkers(db, seesAll ? null : tenant) };
  });

  typed.post(
    '/v1/workers/:workerId/drain',
    { schema: DRAIN, config: DRAINS },
    async (request, reply) => {
      const { workerId } = request.params;
      parseNothing(request.body);
      const status = await drainWorker(db, workerId, actorOf(request));
      if (status === 'missing') {
        const name = JSON.stringify(workerId.slice(0, 60));
        throw new Refusal('NOT_FOUND', `worker ${name} not found`);
      }
      if (status === 'dead') throw new Refusal('CONFLICT', 'the worker is dead');
      return reply.code(202).send({ workerId, status });
    },
  );
}
