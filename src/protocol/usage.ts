import { z } from 'zod';
import {
  BUDGET_AMOUNT_MAX,
  BUDGET_MEASURES,
  BUDGET_NAME,
  BUDGET_PERIODS,
  type BudgetView,
} from '../core/usage/budget.ts';
import {
  isDay,
  USAGE_DAYS_DEFAULT,
  USAGE_FORMATS,
  USAGE_GROUPS,
  type UsageView,
} from '../core/usage/usage.ts';
import { closed, definitionKey, list, number, oneOf, says } from './fields.ts';

function day() {
  const right = says('must be a day from 1970 on, like 2026-01-31');
  return z.string(right).refine(isDay, right);
}

/** A list: the parameter repeats, or its values stand between commas. */
const asList = (value: unknown) =>
  [value].flat().flatMap((one: unknown) => (typeof one === 'string' ? one.split(',') : [one]));

/** Query of `GET /v1/usage`. */
export const UsageQuery = closed({
  from: day()
    .optional()
    .describe(`First day (UTC). Default ${USAGE_DAYS_DEFAULT - 1} days before \`to\`.`),
  to: day().optional().describe('Last day (UTC). Default today.'),
  groupBy: z
    .preprocess(asList, list(oneOf('group', USAGE_GROUPS), 1, USAGE_GROUPS.length))
    .default(['day', 'definition'])
    .describe(
      'One row per day, tenant or definition, or each combination. Default day,definition.',
    ),
  definitionKey: definitionKey().optional().describe('Only this definition.'),
  allTenants: oneOf('value', ['true', 'false'])
    .default('false')
    .describe('All tenants; only for admin keys of the default tenant.'),
  format: oneOf('format', USAGE_FORMATS)
    .default('json')
    .describe('csv: a table with a head, as a file. Default json.'),
});

const SUMS = {
  jobs: z.int().describe('Jobs that ended, in any way.'),
  attempts: z.int().describe('Attempts that ended, also those that are retried, and hooks.'),
  runSeconds: z.number().describe('How long these attempts ran.'),
  cpuSeconds: z
    .number()
    .nullable()
    .describe(
      'CPU time of attempts that have a process or thread; null if none of the attempts has: inline jobs are not measured.',
    ),
  peakRssBytes: z
    .int()
    .nullable()
    .describe('Peak memory of the largest attempt; null if none was measured.'),
};

const UsageRowAnswer = z
  .looseObject({
    day: z.string().nullable().describe('Null if not grouped by it.'),
    tenant: z.string().nullable().describe('Null if not grouped by it.'),
    definitionKey: z.string().nullable().describe('Null if not grouped by it.'),
    ...SUMS,
  })
  .meta({ id: 'UsageRow', description: 'What some jobs used.' });

export const UsageAnswer = z.looseObject({
  at: z.iso.datetime(),
  from: z.string().describe('First day.'),
  to: z.string().describe('Last day, which may not be over.'),
  groupBy: z.array(z.enum(USAGE_GROUPS)),
  rows: z
    .array(UsageRowAnswer)
    .describe('By day, tenant and definition. Without jobs there is no row.'),
  total: z.looseObject(SUMS).describe('Of all rows.'),
}) satisfies z.ZodType<UsageView>;

export const BudgetParams = z.object({
  budgetName: z
    .string()
    .describe('The name of the budget.')
    .meta({ examples: ['reports-cpu'] }),
});

/** Null when the name is valid. */
export function budgetNameProblem(name: string): string | null {
  if (BUDGET_NAME.test(name)) return null;
  return 'must be 1 to 63 lower-case letters, digits and -, a letter or digit first';
}

/** Body of `PUT /v1/budgets/{budgetName}`. */
export const BudgetBody = closed({
  definitionKey: definitionKey()
    .nullable()
    .default(null)
    .describe('Only jobs of this definition. Default null: all jobs of the tenant.'),
  measure: oneOf('measure', BUDGET_MEASURES).describe('What is counted.'),
  period: oneOf('period', BUDGET_PERIODS).describe('A day or a month, in UTC.'),
  amount: number(0.001, BUDGET_AMOUNT_MAX).describe('How much should be used at most.'),
});

export const BudgetAnswer = z
  .looseObject({
    name: z.string(),
    tenant: z.string(),
    definitionKey: z.string().nullable().describe('Null: all jobs of the tenant.'),
    measure: z.enum(BUDGET_MEASURES),
    period: z.enum(BUDGET_PERIODS),
    amount: z.number(),
    from: z.string().describe('First day of the current period.'),
    to: z.string().describe('Last day of the current period.'),
    used: z.number(),
    usedPercent: z.int().describe('Of the amount, rounded down.'),
    runsOutAt: z.iso
      .datetime()
      .nullable()
      .describe(
        'When all is used at the average rate of the period so far; null when not in this period, or ' +
          'all is used.',
      ),
    updatedAt: z.iso.datetime(),
    updatedBy: z.string(),
  })
  .meta({
    id: 'Budget',
    description: 'How much jobs should use at most. It fires alerts and stops no job.',
  }) satisfies z.ZodType<BudgetView>;

export const BudgetsAnswer = z.looseObject({ budgets: z.array(BudgetAnswer) });
