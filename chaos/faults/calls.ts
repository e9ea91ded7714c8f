import { until } from '../../test/support/until.ts';
import { CALL_FAULTS as KINDS, type CallName, CALLS, type Mishap } from '../check/call-faults.ts';
import type { CallProxy, Fate } from '../world/call-proxy.ts';
import type { World } from '../world/world.ts';
import type { Fault } from './fault.ts';

const PATIENCE_MS = 3_000;
/** A remote worker starts after the APIs, and has one proxy, which one fault at a time spoils. */
const TRIED_MS = 45_000;
/** The deadline of a turn that waits for jobs. */
const LEFT_MS = 30_000;

interface MishapOptions {
  number: string;
  /** With the plural of the call. */
  what(calls: string): string;
  holdMs: Fault['holdMs'];
  fate(world: World, pick: number): Fate;
}

const BRIEF = [500, 2_500] as const;

const MISHAPS: Record<Mishap, MishapOptions> = {
  lost: {
    number: 'F12',
    what: (calls) => `${calls} of a remote worker are lost`,
    holdMs: BRIEF,
    fate: () => 'lose-request',
  },
  cut: {
    number: 'F10',
    what: (calls) => `${calls} of a remote worker are carried out, and their answers are lost`,
    holdMs: BRIEF,
    fate: () => 'lose-answer',
  },
  half: {
    number: 'F10',
    what: (calls) => `the connection is half-closed in the middle of the answers to ${calls}`,
    holdMs: BRIEF,
    fate: () => 'half-answer',
  },
  twice: {
    number: 'F13',
    what: (calls) => `${calls} of a remote worker arrive twice, at two APIs`,
    holdMs: [1_000, 4_000],
    fate: () => 'twice',
  },
  delay: {
    number: 'F13',
    what: (calls) => `${calls} of a remote worker arrive up to 90 s later, some after a deadline`,
    holdMs: [500, 1_500],
    // Most are short: a worker waits for its turn until the deadline.
    fate: ({ lateMs }, pick) => ({ delayMs: 300 + chanceOf(pick, 7) ** 3 * lateMs }),
  },
  slow: {
    number: 'F13',
    what: (calls) => `${calls} are carried out, and their answers arrive seconds later`,
    holdMs: [500, 1_500],
    fate: (_world, pick) => ({ answerAfterMs: 1_000 + chanceOf(pick, 5) * 5_000 }),
  },
  late: {
    number: 'F12',
    what: (calls) => `connections of ${calls} break, and the calls arrive up to 90 s later`,
    holdMs: BRIEF,
    fate: ({ lateMs }, pick) => ({ lateMs: 200 + chanceOf(pick, 11) ** 2 * lateMs }),
  },
};

/** Another chance in [0, 1), by the same one. */
function chanceOf(pick: number, times: number): number {
  return (pick * times) % 1;
}

/** The way of a remote worker to the APIs. `once`: only the first call is hit. */
function callFault(
  kind: string,
  call: CallName,
  { number, what, holdMs, fate }: MishapOptions,
  once = false,
): Fault {
  return {
    kind,
    number,
    what: `${what(`${CALLS[call]}s`)}${once ? '; one only' : ''}`,
    holdMs: once ? [0, 0] : holdMs,
    patienceMs: TRIED_MS,
    impossible: ({ proxies }) => (proxies.size > 0 ? null : 'this run has no remote workers'),
    inject: async (world, pick) => {
      const workers = [...world.proxies].map(([name, proxy]) => ({ name, proxy }));
      const chosen = world.choose(workers, pick);
      if (!chosen || chosen.proxy.spoilt) return null;
      const { name, proxy } = chosen;
      const before = proxy.mistreated;
      const isHit = () => proxy.mistreated > before;
      proxy.spoilt = { call, next: () => (once && isHit() ? 'pass' : fate(world, pick)) };
      const hit = await until(`a call of ${name}`, isHit, PATIENCE_MS)
        .then(() => true)
        .catch(() => false);
      const heal = async () => await end(proxy, call);
      if (hit) return { targets: [name], heal };
      await heal();
      return null;
    },
  };
}

/** A worker whose call is delayed waits for it until its deadline. */
async function end(proxy: CallProxy, call: CallName): Promise<void> {
  proxy.spoilt = { call, next: () => 'pass' };
  await until('no worker waits for a delayed call', () => proxy.delayed === 0, LEFT_MS).finally(
    () => (proxy.spoilt = null),
  );
}

/** One heartbeat after the other is lost: this costs a lease, although turns pass. */
const beatsLost = callFault('beats-lost', 'beat', {
  ...MISHAPS.lost,
  number: 'F8',
  what: (calls) => `${calls} of a remote worker are lost for longer than a lease; turns pass`,
  holdMs: [4_500, 7_500],
});

export const CALL_FAULTS: readonly Fault[] = [
  ...KINDS.map(({ kind, call, mishap }) => {
    // The next heartbeat renews the lease.
    const once = call === 'beat' && mishap !== 'twice';
    return callFault(kind, call, MISHAPS[mishap], once);
  }),
  beatsLost,
];
