import type { Micros, ProcessEvent } from '../../../history/history.ts';
import type { Facts } from '../../facts.ts';
import type { FaultWindow } from '../../faults.ts';
import { invariant } from '../../invariant.ts';

const BOUND: Micros = 5_000_000;

/**
 * Judged only where nothing else went wrong in these seconds, and of processes that lived all the
 * while: one that was killed, by a fault or by its own job, is being started anew.
 */
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

function* silentServers(
  { history, operations, instances }: Facts,
  { kind, from, until }: FaultWindow,
) {
  const within = (at: Micros) => at >= until && at <= until + BOUND;
  for (const slot of steadySlots(history.processes, from, until + BOUND)) {
    const works = /^(api|start)/.test(slot)
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

/** Places whose process was up at the beginning and is the same at the end. */
function steadySlots(processes: readonly ProcessEvent[], from: Micros, to: Micros): Set<string> {
  const steady = new Set<string>();
  for (const { slot, phase, at } of processes.toSorted((a, b) => a.at - b.at)) {
    if (phase === 'up' && at <= from) steady.add(slot);
    if (phase === 'exit' && at <= to) steady.delete(slot);
  }
  return steady;
}
