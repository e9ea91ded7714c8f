import type { Redis } from '../world/redis.ts';
import type { World } from '../world/world.ts';
import type { Fault, Injection } from './fault.ts';

/** Redis may only ever hold hints, so nothing that happens to it may be felt but in time. */
function redisFault(
  name: string,
  what: string,
  holdMs: Fault['holdMs'],
  strike: (redis: Redis) => Promise<void> | void,
  undo: (redis: Redis) => Promise<void> | void = () => undefined,
): Fault {
  const inject = async ({ redis, isBusy }: World): Promise<Injection | null> => {
    if (!redis || isBusy('redis')) return null;
    await strike(redis);
    return { targets: ['redis'], heal: async () => await undo(redis) };
  };
  return {
    kind: `redis-${name}`,
    number: 'F16',
    what,
    holdMs,
    impossible: ({ redis }) => (redis ? null : 'this run has no Redis (profile redis has)'),
    inject,
  };
}

export const REDIS_FAULTS: readonly Fault[] = [
  redisFault(
    'kill',
    'kill -9 of Redis, which keeps nothing; later it is started again',
    [500, 8_000],
    async (redis) => await redis.kill(),
    async (redis) => await redis.start(),
  ),
  redisFault('flush', 'FLUSHALL: Redis loses all heartbeats', [0, 100], async (redis) => {
    await redis.flush();
  }),
  redisFault(
    'freeze',
    'SIGSTOP of Redis, for longer than a lease',
    [4_000, 12_000],
    (redis) => redis.signal('SIGSTOP'),
    (redis) => redis.signal('SIGCONT'),
  ),
  redisFault(
    'refuse',
    'no process can reach Redis',
    [2_000, 12_000],
    ({ link }) => link.refuse(),
    ({ link }) => link.clear(),
  ),
];
