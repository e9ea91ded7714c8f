import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { DEFAULT_TENANT, mayDo } from '../../../core/access/scope.ts';
import { scaleView } from '../../../core/views/scale.ts';
import { ScaleAnswer, ScaleQuery } from '../../../protocol/answers/scale-answer.ts';
import { readScale } from '../../../store/counters/read-scale.ts';
import { callerOf } from '../../access/caller.ts';
import type { HttpDeps } from '../../deps.ts';
import { answer, refusals } from '../../openapi.ts';

const SCALE = {
  operationId: 'scale',
  tags: ['server'],
  summary: 'Get the number of slots that the load needs',
  description:
    'Arrival rate, run time, waiting and running jobs, and wanted slots per definition and in total, ' +
    'for an autoscaler. Read from counters, at most two seconds old. Includes hooks and webhook ' +
    'deliveries, which use slots too. A key of the default tenant with the scope operate gets the ' +
    'load of all tenants.',
  querystring: ScaleQuery,
  response: { 200: answer('The load.', ScaleAnswer), ...refusals('UNAVAILABLE') },
};

export function scaleRoutes(app: FastifyInstance, { db }: HttpDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const config = { access: 'jobs:read' } as const;

  typed.get('/v1/scale', { schema: SCALE, config }, async (request) => {
    const { home, tenant, scopes } = callerOf(request);
    const isDefault = tenant === DEFAULT_TENANT && home === DEFAULT_TENANT;
    const allTenants = isDefault && mayDo(scopes, 'operate');
    const rows = await readScale(db, allTenants ? null : tenant);
    return scaleView(rows, { ...request.query, allTenants });
  });
}
