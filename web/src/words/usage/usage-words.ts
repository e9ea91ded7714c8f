import type { BudgetMeasure, BudgetView } from '../../../../src/core/usage/budget.ts';
import {
  dayOf,
  isCpuUnknown,
  type UsageSums,
  type UsageView,
} from '../../../../src/core/usage/usage.ts';
import { duration } from '../../../../src/core/values/duration.ts';
import type { ChartModel } from '../charts/chart.ts';
import { bytes } from '../moment.ts';
import { type Measure, MEASURES } from './usage-range.ts';

const DAY_MS = 86_400_000;
const SECOND_MS = 1_000;

/** One bar per day, also for days without jobs. */
export interface UsageBars {
  model: ChartModel;
  days: string[];
  /** The middle of each day in seconds, as uPlot expects: a bar spans its day. */
  times: number[];
}

export function usageBars(usage: UsageView, measure: Measure, during: string): UsageBars {
  const { from, to, rows, total } = usage;
  const byDay = new Map(rows.map((row) => [row.day, row]));
  const days: string[] = [];
  for (let ms = Date.parse(from); ms <= Date.parse(to); ms += DAY_MS)
    days.push(dayOf(new Date(ms)));
  const drawn = (value: number) => (measure === 'jobs' ? value : value * SECOND_MS);
  const values = days.map((day) => drawn(byDay.get(day)?.[measure] ?? 0));
  const title = `${MEASURES[measure]} per day`;
  const sum = amountWords(measure, total[measure]);
  return {
    days,
    times: days.map((day) => (Date.parse(day) + DAY_MS / 2) / SECOND_MS),
    model: {
      name: 'usage',
      title,
      unit: measure === 'jobs' ? 'jobs' : 'ms',
      kind: 'bars',
      lines: [{ name: MEASURES[measure], tone: 'line-usage', values, total: sum }],
      legend: during,
      summary: `${title}, ${during}: ${sum} in total`,
    },
  };
}

const SHORT = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** "18 Nov": a day has no time zone. */
export function shortDay(day: string): string {
  return SHORT.format(new Date(day));
}

/** "12", "4m02s". CPU time is not known when none was measured. */
export function amountWords(measure: BudgetMeasure, amount: number | null): string {
  if (amount === null) return 'not known';
  if (measure !== 'jobs') return duration(amount * SECOND_MS);
  return Number(amount.toFixed(3)).toLocaleString('en');
}

export { isCpuUnknown };

export function cpuWords({ cpuSeconds }: Pick<UsageSums, 'cpuSeconds'>): string {
  return amountWords('cpuSeconds', cpuSeconds);
}

export const CPU_UNKNOWN =
  'Inline jobs run inside their worker, so their CPU time and memory are not known and not in the ' +
  'sums. To measure a job, give its definition isolation “process” or “thread”.';

export function memoryWords(peakRssBytes: number | null): string {
  return peakRssBytes === null ? '–' : bytes(peakRssBytes);
}

/** What a budget allows: "1h CPU time of report per day". */
export function budgetWords({ measure, amount, definitionKey, period }: BudgetView): string {
  const noun = measure === 'jobs' ? 'jobs' : measure === 'cpuSeconds' ? 'CPU time' : 'run time';
  const whose = definitionKey === null ? '' : ` of ${definitionKey}`;
  return `${amountWords(measure, amount)} ${noun}${whose} per ${period}`;
}

/** The colour of how much is used; the alerts fire at 80 and 100 % unless their rules say otherwise. */
export function budgetTone({ usedPercent }: Pick<BudgetView, 'usedPercent'>): string {
  if (usedPercent >= 100) return 'bad';
  return usedPercent >= 80 ? 'warn' : 'good';
}

/** Why a typed budget is refused; null if it may be sent. */
export function budgetProblem({ name, amount }: { name: string; amount: string }): string | null {
  if (name.trim() === '') return 'Enter a name.';
  return Number(amount) > 0 ? null : 'Enter an amount above 0.';
}
