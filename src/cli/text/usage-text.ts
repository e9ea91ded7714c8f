import type { Budget, Usage, UsageSums } from '../../client/index.ts';
import { duration } from '../../core/values/duration.ts';
import { columns } from './columns.ts';
import { size } from './size.ts';

const TITLES = { day: 'DAY', tenant: 'TENANT', definition: 'DEFINITION' } as const;
const KEYS = { day: 'day', tenant: 'tenant', definition: 'definitionKey' } as const;

/** The output of `usage`: a line per row, and one with the sums. */
export function usageTable({ groupBy, rows, total }: Usage, width: number): string[] {
  const head = groupBy.map((group) => TITLES[group]);
  const cells = rows.map((row) => [
    ...groupBy.map((group) => row[KEYS[group]] ?? '-'),
    ...sumCells(row),
  ]);
  const last = groupBy.map((_, n) => (n === 0 ? 'total' : ''));
  const sums = ['JOBS', 'ATTEMPTS', 'RUN TIME', 'CPU TIME', 'PEAK MEMORY'];
  return columns([[...head, ...sums], ...cells, [...last, ...sumCells(total)]], width);
}

function sumCells(sums: UsageSums): string[] {
  const { jobs, attempts, runSeconds, cpuSeconds, peakRssBytes } = sums;
  return [
    String(jobs),
    String(attempts),
    duration(runSeconds * 1_000),
    cpuSeconds === null ? 'not known' : duration(cpuSeconds * 1_000),
    peakRssBytes === null ? '-' : size(peakRssBytes),
  ];
}

const UNITS = { cpuSeconds: 'CPU seconds', runSeconds: 'run seconds', jobs: 'jobs' } as const;

export function budgetTable(budgets: readonly Budget[], width: number): string[] {
  const rows = budgets.map((budget) => [
    budget.name,
    budget.definitionKey ?? 'all',
    `${budget.amount} ${UNITS[budget.measure]}`,
    budget.period,
    String(budget.used >= 10 ? Math.round(budget.used) : Number(budget.used.toFixed(3))),
    `${budget.usedPercent} %`,
    budget.runsOutAt ?? '-',
  ]);
  const head = ['NAME', 'DEFINITION', 'BUDGET', 'PER', 'USED', 'PERCENT', 'RUNS OUT'];
  return columns([head, ...rows], width);
}
