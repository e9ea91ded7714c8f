import { changesOf } from '../../core/access/changes.ts';
import {
  type Budget,
  type BudgetMeasure,
  type BudgetPeriod,
  BUDGETS_MAX,
  type BudgetSpec,
  type BudgetView,
  budgetView,
  periodOf,
} from '../../core/usage/budget.ts';
import { type Actor, audit, audited } from '../access/audit.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import { readUsageSums } from '../counters/read-usage.ts';

interface BudgetRow {
  tenant: string;
  name: string;
  definition_key: string | null;
  measure: BudgetMeasure;
  period: BudgetPeriod;
  amount: number;
  updated_at: Date;
  updated_by: string;
}

const COLUMNS = 'tenant, name, definition_key, measure, period, amount, updated_at, updated_by';

const LIST = statement<BudgetRow>(
  'list_budgets',
  `select ${COLUMNS} from longshore.budget where tenant = $1 order by name`,
);

export async function listBudgets(db: Queryable, tenant: string): Promise<Budget[]> {
  return (await db.run(LIST, [tenant])).map(budgetOf);
}

const LIST_ALL = statement<BudgetRow>(
  'list_all_budgets',
  `select ${COLUMNS} from longshore.budget order by tenant, name limit $1`,
);

/** Enough for all tenants; always the same ones. */
const ALL_MAX = 10_000;

/** The budgets of all tenants, for alerts. */
export async function listAllBudgets(db: Queryable): Promise<Budget[]> {
  return (await db.run(LIST_ALL, [ALL_MAX])).map(budgetOf);
}

/** The budgets with what is used of them in the period of the given moment. */
export async function withUse(db: Db, budgets: readonly Budget[], at: Date): Promise<BudgetView[]> {
  const asked = budgets.map(({ tenant, definitionKey, period }) => {
    return { tenant, definitionKey, ...periodOf(period, at) };
  });
  const sums = await readUsageSums(db, asked);
  return budgets.map((budget, n) => budgetView(budget, sums[n]?.[budget.measure] ?? 0, at));
}

/** Two calls must not both take the last place. */
const LOCK = statement<{ locked: string }>(
  'lock_budgets',
  `select pg_advisory_xact_lock(hashtext('longshore.budget'), hashtext($1))::text as locked
   from longshore.tenant where name = $1`,
);

const SAVE = statement<BudgetRow>(
  'save_budget',
  `insert into longshore.budget (tenant, name, definition_key, measure, period, amount, updated_by)
   values ($1, $2, $3, $4, $5, $6, $7)
   on conflict (tenant, name) do update set definition_key = excluded.definition_key,
     measure = excluded.measure, period = excluded.period, amount = excluded.amount,
     updated_at = clock_timestamp(), updated_by = excluded.updated_by
   returning ${COLUMNS}`,
);

/** Creates or replaces a budget. */
export async function saveBudget(
  db: Db,
  by: Actor,
  tenant: string,
  name: string,
  spec: BudgetSpec,
): Promise<Budget | 'too-many'> {
  return await db.transaction(async (tx) => {
    await tx.run(LOCK, [tenant]);
    const all = await listBudgets(tx, tenant);
    const before = all.find((one) => one.name === name);
    if (!before && all.length >= BUDGETS_MAX) return 'too-many';
    const values = [spec.definitionKey, spec.measure, spec.period, spec.amount];
    const [row] = await tx.run(SAVE, [tenant, name, ...values, by.name]);
    if (!row) throw new Error('the budget was not stored');
    const saved = budgetOf(row);
    const entry = { tenant, action: 'budget.save', subject: name };
    const changes = before ? changesOf(specOf(before), specOf(saved)) : { after: specOf(saved) };
    await audit(tx, by, { ...entry, ...changes });
    return saved;
  });
}

const DELETE = statement<BudgetRow>(
  'delete_budget',
  `delete from longshore.budget where tenant = $1 and name = $2 returning ${COLUMNS}`,
);

/** False when there is no such budget. */
export async function deleteBudget(
  db: Db,
  by: Actor,
  tenant: string,
  name: string,
): Promise<boolean> {
  const gone = await audited(
    db,
    by,
    async (tx) => (await tx.run(DELETE, [tenant, name]))[0],
    (row) =>
      row
        ? { tenant, action: 'budget.delete', subject: name, before: specOf(budgetOf(row)) }
        : null,
  );
  return gone !== undefined;
}

function specOf({ definitionKey, measure, period, amount }: BudgetSpec) {
  return { definitionKey, measure, period, amount };
}

function budgetOf(row: BudgetRow): Budget {
  return {
    name: row.name,
    tenant: row.tenant,
    definitionKey: row.definition_key,
    measure: row.measure,
    period: row.period,
    amount: row.amount,
    updatedAt: row.updated_at.toISOString(),
    updatedBy: row.updated_by,
  };
}
