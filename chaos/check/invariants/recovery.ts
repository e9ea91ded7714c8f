import type { Micros } from '../../history/history.ts';
import type { Facts } from '../facts.ts';
import type { FaultWindow } from '../faults.ts';
import { invariant } from '../invariant.ts';

const BOUND: Micros = 5_000_000;

/** Judged only where nothing else went wrong in these seconds. */
export const recovery = invariant(
  'L5',
  'When the database is back, every server works again within 5 s, without being restarted.',
  function* (facts) {
    const { faults, history } = facts;
    const drainAt = history.phases.find(({ name }) => name === 'drain')?.at ?? 0;
    for (const fault of faults.windows) {
      const { targets, until } = fault;
      if (!targets.includes('postgres') || until + BOUND > drainAt) continue;
      const others = faults.during(until, until + BOUND, 0).filter((other) => other !== fault);
      if (others.length === 0) yield* silentServers(facts, fault);
    }
  },
);

function* silentServers({ history, operations, instances }: Facts, { kind, until }: FaultWindow) {
  const within = (at: Micros) => at >= until && at <= until + BOUND;
  const slots = new Set(
    history.processes.filter(({ phase, at }) => phase === 'up' && at < until).map((p) => p.slot),
  );
  for (const slot of slots) {
    const works = slot.startsWith('api')
      ? operations.some(
          (one) => one.api === slot && one.result !== 'unknown' && within(one.endedAt),
        )
      : !slot.startsWith('worker') ||
        [...instances.values()].some(
          (one) => one.slot === slot && one.beats.some(({ at }) => within(at)),
        );
    if (!works) yield { text: `${slot} did nothing for 5 s after ${kind} was over` };
  }
}
