import type { DayRange } from './usage.ts';
import { dayOf } from './usage.ts';

/**
 * A budget says how much all jobs of a tenant, or those of one definition, should use at most per day or
 * month (UTC). It only fires alerts: the rule `budget-warning` when 80 % are used, `budget-exceeded` when
 * all is. It stops no job; limits do that.
 */
export const BUDGET_MEASURES = ['cpuSeconds', 'runSeconds', 'jobs'] as const;
export type BudgetMeasure = (typeof BUDGET_MEASURES)[number];

export const BUDGET_PERIODS = ['day', 'month'] as const;
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number];

export const BUDGET_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;
export const BUDGET_AMOUNT_MAX = 1_000_000_000_000;
/** Per tenant. */
export const BUDGETS_MAX = 200;

export interface BudgetSpec {
  /** Null: all definitions of the tenant together. */
  definitionKey: string | null;
  measure: BudgetMeasure;
  period: BudgetPeriod;
  amount: number;
}

export interface Budget extends BudgetSpec {
  name: string;
  tenant: string;
  updatedAt: string;
  updatedBy: string;
}

/** A budget as shown by the API. */
export interface BudgetView extends Budget {
  /** The first and the last day of the current period. */
  from: string;
  to: string;
  used: number;
  /** Of the amount, rounded down. */
  usedPercent: number;
  /**
   * When it will be used up if the rest of the period goes like the part until now; null when it will
   * not be in this period, or already is.
   */
  runsOutAt: string | null;
}

/** The days of the period in which a moment is. */
export function periodOf(period: BudgetPeriod, at: Date): DayRange {
  const day = dayOf(at);
  if (period === 'day') return { from: day, to: day };
  const last = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0));
  return { from: `${day.slice(0, 8)}01`, to: dayOf(last) };
}

export function budgetView(budget: Budget, used: number, at: Date): BudgetView {
  const { from, to } = periodOf(budget.period, at);
  const usedPercent = percentOf(budget, used);
  return { ...budget, from, to, used, usedPercent, runsOutAt: runsOutAt(budget, used, at) };
}

/** Rounded down, so that 100 means all of it. */
export function percentOf({ amount }: Pick<Budget, 'amount'>, used: number): number {
  return Math.floor((100 * used) / amount);
}

function runsOutAt({ amount, period }: Budget, used: number, at: Date): string | null {
  if (used <= 0 || used >= amount) return null;
  const { from, to } = periodOf(period, at);
  const beginMs = Date.parse(from);
  const endMs = Date.parse(to) + 86_400_000;
  const outMs = beginMs + ((at.getTime() - beginMs) * amount) / used;
  return outMs < endMs ? new Date(Math.round(outMs)).toISOString() : null;
}

const UNITS: Record<BudgetMeasure, string> = {
  cpuSeconds: 'CPU seconds',
  runSeconds: 'seconds of run time',
  jobs: 'jobs',
};

/** "850 of 1000 CPU seconds of report on 2026-01-31", for people. */
export function budgetText(view: BudgetView): string {
  const { measure, period, amount, used, definitionKey, from } = view;
  const whose = definitionKey === null ? '' : ` of ${definitionKey}`;
  const when = period === 'day' ? `on ${from}` : `in ${from.slice(0, 7)}`;
  return `${rounded(used)} of ${rounded(amount)} ${UNITS[measure]}${whose} ${when}`;
}

/** Whole numbers above ten: more would look important. */
function rounded(value: number): string {
  return String(value >= 10 ? Math.round(value) : Number(value.toFixed(3)));
}
