import type { Alert, AlertMessage, AlertRoute, AlertRule } from '../../client/index.ts';
import { quietHoursText } from '../../core/alert/quiet-hours.ts';
import { columns } from './columns.ts';
import { idCell } from './id-cell.ts';
import { age } from '../../core/values/duration.ts';
import { printable } from '../../core/values/printable.ts';

export function alertTable(alerts: readonly Alert[], now: Date, width: number): string[] {
  const rows = alerts.map(({ id, status, silenced, rule, definitionKey, since, message }) => [
    idCell(id, width),
    silenced ? `${status}, silenced` : status,
    rule,
    definitionKey ?? '-',
    age(now.getTime() - Date.parse(since)),
    message,
  ]);
  return columns([['ID', 'STATUS', 'RULE', 'DEFINITION', 'SINCE', 'MESSAGE'], ...rows], width);
}

export function ruleTable(rules: readonly AlertRule[], width: number): string[] {
  const rows = rules.map(({ rule, definitionKey, enabled, threshold, unit, ...rest }) => [
    rule,
    definitionKey ?? 'all',
    enabled ? 'on' : 'off',
    `${threshold} ${unit}`,
    rest.windowSeconds === null ? '-' : `${rest.windowSeconds} s`,
    rest.severity,
    rest.source,
    rest.description,
  ]);
  const header = ['RULE', 'DEFINITION', 'ENABLED', 'THRESHOLD', 'WINDOW', 'SEVERITY', 'SOURCE'];
  return columns([[...header, 'DESCRIPTION'], ...rows], width);
}

export function routeTable(routes: readonly AlertRoute[], width: number): string[] {
  const rows = routes.map((route) => [
    route.name,
    route.channel,
    printable(route.urlHost ?? route.to.join(',')),
    route.enabled ? 'on' : 'off',
    route.rules?.join(',') ?? 'all',
    printable(route.owners?.join(',') ?? 'all'),
    route.definitionKeys?.join(',') ?? 'all',
    `${route.groupSeconds} s`,
    route.quietHours === null ? '-' : quietHoursText(route.quietHours),
  ]);
  const filters = ['RULES', 'OWNERS', 'DEFINITIONS', 'GROUP', 'QUIET HOURS'];
  return columns([['NAME', 'CHANNEL', 'TO', 'ENABLED', ...filters], ...rows], width);
}

export function messageTable(
  messages: readonly AlertMessage[],
  now: Date,
  width: number,
): string[] {
  const rows = messages.map(({ id, status, kind, subject, attempts, createdAt }) => [
    id,
    status,
    kind,
    age(now.getTime() - Date.parse(createdAt)),
    String(attempts.length),
    lastAnswer(attempts),
    printable(subject),
  ]);
  const header = ['ID', 'STATUS', 'KIND', 'AGE', 'ATTEMPTS', 'RESPONSE', 'SUBJECT'];
  return columns([header, ...rows], width);
}

export function lastAnswer(attempts: AlertMessage['attempts']): string {
  const last = attempts.at(-1);
  if (!last) return '-';
  return last.status === null ? printable(last.error ?? 'no response') : String(last.status);
}
