import type { Alert, AlertRule } from '../../client/index.ts';
import { columns } from './columns.ts';
import { age } from '../../core/values/duration.ts';

export function alertTable(alerts: readonly Alert[], now: Date, width: number): string[] {
  const rows = alerts.map(({ status, rule, definitionKey, since, message }) => [
    status,
    rule,
    definitionKey ?? '-',
    age(now.getTime() - Date.parse(since)),
    message,
  ]);
  return columns([['STATUS', 'RULE', 'DEFINITION', 'SINCE', 'MESSAGE'], ...rows], width);
}

export function ruleTable(rules: readonly AlertRule[], width: number): string[] {
  const rows = rules.map(({ rule, definitionKey, enabled, threshold, unit, ...rest }) => [
    rule,
    definitionKey ?? 'all',
    enabled ? 'on' : 'off',
    `${threshold} ${unit}`,
    rest.windowSeconds === null ? '-' : `${rest.windowSeconds} s`,
    rest.source,
    rest.description,
  ]);
  const header = ['RULE', 'DEFINITION', 'ENABLED', 'THRESHOLD', 'WINDOW', 'SOURCE', 'DESCRIPTION'];
  return columns([header, ...rows], width);
}
