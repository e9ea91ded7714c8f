import { type Check, ok, refused, warning } from './check.ts';

export type RedisFacts =
  | { state: 'answers'; where: string }
  | { state: 'silent'; where: string; reason: string }
  /** The client package is missing: no worker would start. */
  | { state: 'refused'; message: string };

/** Redis only saves database writes, so an outage is a warning. */
export function judgeRedis(facts: RedisFacts): Check {
  switch (facts.state) {
    case 'answers':
      return ok('redis', facts.where);
    case 'silent':
      return warning(
        'redis',
        `${facts.where} does not respond: ${facts.reason}`,
        'start it, or correct LONGSHORE_REDIS_URL; workers use the database meanwhile',
      );
    case 'refused':
      return refused('redis', facts.message);
  }
}
