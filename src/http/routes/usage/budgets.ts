import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Budget, BudgetView } from '../../../core/usage/budget.ts';
import { nearestName } from '../../../core/values/nearest.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import { parseBody } from '../../../protocol/requests/parse-body.ts';
import { parseNothing } from '../../../protocol/requests/parse-nothing.ts';
import {
  BudgetAnswer,
  BudgetBody,
  budgetNameProblem,
  BudgetParams,
  BudgetsAnswer,
} from '../../../protocol/usage.ts';
import { deleteBudget, listBudgets, saveBudget, withUse } from '../../../store/alerts/budgets.ts';
import type { Db } from '../../../store/connection/db.ts';
import { readClock } from '../../../store/counters/read-stats.ts';
import { actorOf } from '../../access/caller.ts';
import { tenantOf } from '../../access/tenant.ts';
import type { HttpDeps } from '../../deps.ts';
import { answer, bodyRefusals, refusals } from '../../openapi.ts';

const LIST = {
  operationId: 'listBudgets',
  tags: ['usage'],
  summary: 'List budgets',
  description: 'By name, each with what is used of it in the current day or month.',
  response: { 200: answer('The budgets.', BudgetsAnswer), ...refusals('UNAVAILABLE') },
};

const PUT = {
  operationId: 'saveBudget',
  tags: ['usage'],
  summary: 'Create or replace a budget',
  description:
    'The alert budget-warning fires when 80 % of it are used, budget-exceeded when all is: each once ' +
    'per day or month. A budget stops no job; limits do. May be repeated.',
  params: BudgetParams,
  body: BudgetBody,
  response: { 200: answer('The budget.', BudgetAnswer), ...bodyRefusals('QUOTA_EXCEEDED') },
};

const DELETE = {
  operationId: 'deleteBudget',
  tags: ['usage'],
  summary: 'Delete a budget',
  description: 'Its alerts are resolved.',
  params: BudgetParams,
  response: { 204: z.null().describe('The budget was deleted.'), ...bodyRefusals('NOT_FOUND') },
};

const READS = { access: 'jobs:read' } as const;
const WRITES = { access: 'operate' } as const;

export function budgetsRoutes(app: FastifyInstance, { db }: HttpDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  typed.get('/v1/budgets', { schema: LIST, config: READS }, async (request) => ({
    budgets: await used(db, await listBudgets(db, tenantOf(request))),
  }));

  typed.put('/v1/budgets/:budgetName', { schema: PUT, config: WRITES }, async (request) => {
    const { budgetName: name } = request.params;
    const detail = budgetNameProblem(name);
    if (detail !== null) {
      const errors = [{ pointer: '/name', detail }];
      throw new Refusal('VALIDATION_FAILED', `/name: ${detail}`, { errors });
    }
    const spec = parseBody(BudgetBody, request.body);
    const saved = await saveBudget(db, actorOf(request), tenantOf(request), name, spec);
    if (saved === 'too-many') {
      throw new Refusal('QUOTA_EXCEEDED', 'the tenant has too many budgets: delete one first');
    }
    return (await used(db, [saved]))[0];
  });

  typed.delete(
    '/v1/budgets/:budgetName',
    { schema: DELETE, config: WRITES },
    async (request, reply) => {
      parseNothing(request.body);
      const { budgetName: name } = request.params;
      const tenant = tenantOf(request);
      if (await deleteBudget(db, actorOf(request), tenant, name)) {
        return reply.code(204).send(null);
      }
      throw noSuchBudget(name, await listBudgets(db, tenant));
    },
  );
}

async function used(db: Db, budgets: readonly Budget[]): Promise<BudgetView[]> {
  return await withUse(db, budgets, await readClock(db));
}

function noSuchBudget(name: string, budgets: readonly Budget[]): Refusal {
  const shown = name.slice(0, 63);
  const nearest = nearestName(
    shown,
    budgets.map((budget) => budget.name),
  );
  const hint = nearest === null ? '' : `: did you mean ${JSON.stringify(nearest)}?`;
  return new Refusal('NOT_FOUND', `budget ${JSON.stringify(shown)} not found${hint}`);
}
