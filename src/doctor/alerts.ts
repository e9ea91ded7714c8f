import { type Check, ok, warning } from './check.ts';

export interface AlertFacts {
  /** The first of those that fire. */
  messages: readonly string[];
  total: number;
}

/** An alert is about jobs or the database, and no reason why a server could not run here. */
export function judgeAlerts({ messages, total }: AlertFacts): Check {
  if (total === 0) return ok('alerts', 'none fires');
  const more = total - messages.length;
  const rest = more === 0 ? '' : `; ${more} more`;
  return warning(
    'alerts',
    `${total} ${total === 1 ? 'fires' : 'fire'}: ${messages.join('; ')}${rest}`,
    'look at them with "longshore alerts" (docs/alerts.md says what each means)',
  );
}
