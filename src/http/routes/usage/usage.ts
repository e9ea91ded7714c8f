import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { DEFAULT_TENANT, mayDo } from '../../../core/access/scope.ts';
import { planUsage, USAGE_ROWS_MAX, usageCsv, usageView } from '../../../core/usage/usage.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import { UsageAnswer, UsageQuery } from '../../../protocol/usage.ts';
import { readClock } from '../../../store/counters/read-stats.ts';
import { readUsage } from '../../../store/counters/read-usage.ts';
import { type Caller, callerOf } from '../../access/caller.ts';
import type { HttpDeps } from '../../deps.ts';
import { refusals } from '../../openapi.ts';

const FORMS: Record<string, { schema: z.ZodType }> = {
  'application/json': { schema: UsageAnswer },
  'text/csv': { schema: z.string() },
};

const USAGE = {
  operationId: 'usage',
  tags: ['usage'],
  summary: 'Get what jobs used',
  description:
    'Jobs, attempts, run time, CPU time and peak memory by day (UTC), tenant and definition, at most ' +
    'two seconds old. Days stay when their jobs are deleted, as long as LONGSHORE_USAGE_DAYS says. ' +
    'Inline jobs count with their run time; of them CPU time and memory are not known. Webhook ' +
    'deliveries do not count.',
  querystring: UsageQuery,
  response: { 200: { description: 'The usage.', content: FORMS }, ...refusals('UNAVAILABLE') },
};

export function usageRoutes(app: FastifyInstance, { db }: HttpDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();
  const config = { access: 'jobs:read' } as const;

  typed.get('/v1/usage', { schema: USAGE, config }, async (request, reply) => {
    const { groupBy, definitionKey = null, format, ...asked } = request.query;
    const tenant = asked.allTenants === 'true' ? all(callerOf(request)) : callerOf(request).tenant;
    const at = await readClock(db);
    const range = planUsage(asked, at);
    if (typeof range === 'string') throw refused('from', range);
    const rows =
      (await readUsage(db, { ...range, tenant, definitionKey, groupBy })) ?? tooManyRows();
    const view = usageView(rows, range, groupBy, at);
    if (format === 'json') return reply.send(view);
    void reply
      .type('text/csv; charset=utf-8')
      .header('content-disposition', `attachment; filename="usage-${range.from}-${range.to}.csv"`);
    return reply.send(usageCsv(view));
  });
}

/** Who acts for one other tenant does not mean all of them. */
function all({ home, tenant, scopes }: Caller): null {
  if (home !== DEFAULT_TENANT || !mayDo(scopes, 'admin')) {
    throw new Refusal('FORBIDDEN', 'allTenants requires an admin key of the default tenant');
  }
  if (tenant !== home) throw refused('allTenants', 'cannot be combined with tenant');
  return null;
}

function tooManyRows(): never {
  const most = USAGE_ROWS_MAX.toLocaleString('en');
  throw refused('groupBy', `gives more than ${most} rows: ask for fewer days, or group by less`);
}

function refused(field: string, detail: string): Refusal {
  const errors = [{ pointer: `/${field}`, detail }];
  return new Refusal('VALIDATION_FAILED', `/${field}: ${detail}`, { errors });
}
