import type { BudgetMeasure, BudgetPeriod, BudgetView } from '../../core/usage/budget.ts';
import type { UsageGroup, UsageRow, UsageSums, UsageView } from '../../core/usage/usage.ts';
import type { Transport } from '../http/transport.ts';

/** What jobs used. */
export type Usage = UsageView;
export type { UsageGroup, UsageRow, UsageSums };

export interface UsageOptions {
  /** First day (UTC), like 2026-01-31; default 29 days before `to`. */
  from?: string | undefined;
  /** Last day (UTC); default today. */
  to?: string | undefined;
  /** Default by day and definition. */
  groupBy?: readonly UsageGroup[] | undefined;
  definitionKey?: string | undefined;
  /** All tenants; only for admin keys of the default tenant. */
  allTenants?: boolean | undefined;
}

/** A budget as the server shows it. */
export type Budget = BudgetView;

export interface BudgetOptions {
  /** Default null: all jobs of the tenant. */
  definitionKey?: string | null | undefined;
  measure: BudgetMeasure;
  period: BudgetPeriod;
  amount: number;
}

/** Budgets, which fire alerts and stop no job: `client.budgets`. */
export class Budgets {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** With what is used of each in the current day or month. */
  async list(): Promise<Budget[]> {
    const call = { method: 'GET', path: '/v1/budgets', repeatable: true } as const;
    return (await this.#transport.call<{ budgets: Budget[] }>(call)).budgets;
  }

  /** Creates a budget, or replaces the one with this name. */
  async set(name: string, options: BudgetOptions): Promise<Budget> {
    const call = { method: 'PUT', path: pathOf(name), repeatable: true } as const;
    return await this.#transport.call({ ...call, body: options });
  }

  /** Not repeated after a broken connection: it may be deleted by then. */
  async delete(name: string): Promise<void> {
    await this.#transport.call({ method: 'DELETE', path: pathOf(name), repeatable: false });
  }
}

function pathOf(name: string): string {
  return `/v1/budgets/${encodeURIComponent(name)}`;
}
