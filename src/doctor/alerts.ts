import { type Check, ok, warning } from './check.ts';

export interface AlertFacts {
  /** The first firing alerts. */
  messages: readonly string[];
  total: number;
}

/** A warning only: an alert does not prevent a server from running here. */
export function judgeAlerts({ messages, total }: AlertFacts): Check {
  if (total === 0) return ok('alerts', 'none firing');
  const more = total - messages.length;
  const rest = more === 0 ? '' : `; ${more} more`;
  return warning(
    'alerts',
    `${total} firing: ${messages.join('; ')}${rest}`,
    'list them with "npx longshore alerts" (see docs/operate/alerts.md)',
  );
}
