import { type Check, ok, warning } from './check.ts';

export interface BrokerFacts {
  name: string;
  /** Why it cannot be used; null when it can. */
  trouble: string | null;
}

/** Messages and events wait for a broker, so an outage is a warning. */
export function judgeBrokers(brokers: readonly BrokerFacts[]): Check {
  const bad = brokers.filter(({ trouble }) => trouble !== null);
  if (bad.length === 0) return ok('brokers', brokers.map(({ name }) => name).join(', '));
  return warning(
    'brokers',
    bad.map(({ name, trouble }) => `${name}: ${trouble}`).join('; '),
    'start the broker, or correct LONGSHORE_BROKERS; messages and events wait meanwhile',
  );
}
