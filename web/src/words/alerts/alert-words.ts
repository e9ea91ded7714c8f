import type { AlertRuleView } from '../../../../src/core/views/alert.ts';
import { duration } from '../../../../src/core/values/duration.ts';

type Unit = AlertRuleView['unit'];

const ONE: Record<Exclude<Unit, 'seconds' | 'percent'>, string> = {
  jobs: 'job',
  retries: 'retry',
  slots: 'slot',
};

export function thresholdWords({
  threshold,
  unit,
}: Pick<AlertRuleView, 'threshold' | 'unit'>): string {
  if (unit === 'seconds') return duration(threshold * 1_000);
  if (unit === 'percent') return `${threshold} %`;
  return `${threshold.toLocaleString('en')} ${threshold === 1 ? ONE[unit] : unit}`;
}

export function windowWords({ windowSeconds }: Pick<AlertRuleView, 'windowSeconds'>): string {
  return windowSeconds === null ? 'at this moment' : duration(windowSeconds * 1_000);
}
