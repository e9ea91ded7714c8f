import { type Check, ok, refused, warning } from './check.ts';

export type RedisFacts =
  | { state: 'answers'; where: string }
  | { state: 'silent'; where: string; reason: string }
  /** The package that speaks with it is missing: no worker would start. */
  | { state: 'refused'; message: string };

/** Redis only spares the database some writes, so its silence stops nobody. */
export function judgeRedis(facts: RedisFacts): Check {
  switch (facts.state) {
    case 'answers':
      return ok('redis', facts.where);
    case 'silent':
      return warning(
        'redis',
        `${facts.where} does not answer: ${facts.reason}`,
        'start it, or mend LONGSHORE_REDIS_URL; meanwhile workers use the database alone',
      );
    case 'refused':
      return refused('redis', facts.message);
  }
}
