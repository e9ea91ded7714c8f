import type { Micros } from '../../../history/history.ts';
import { invariant } from '../../invariant.ts';

/** For so long an API may remember what was released (`store/enqueue/catalog.ts`). */
const REMEMBERED: Micros = 1_000_000;

/**
 * A request chooses the version, at some time between its arrival and the birth of its job. A job that
 * becomes due, or that was there before the first release, gets its version in the database.
 */
export const releasedVersion = invariant(
  'S27',
  'A new job gets the deployment that is released; a release or rollback counts after a second.',
  function* ({ enqueues, records, deployed }) {
    const invokedAt = new Map<string, Micros>();
    for (const { call, invokedAt: at } of enqueues) {
      for (const { paramsSha } of call.jobs) {
        invokedAt.set(paramsSha, Math.min(at, invokedAt.get(paramsSha) ?? at));
      }
    }
    for (const { id, wanted } of records.values()) {
      if (wanted?.definition !== 'deployed') continue;
      const [first, ...later] = deployed.versionsOf(id);
      if (wanted.pinned !== undefined) {
        const other = [first, ...later].find((one) => one && one.version !== wanted.pinned);
        if (other) yield { job: id, text: `asked for ${wanted.pinned} and got ${other.version}` };
        continue;
      }
      const asked = (invokedAt.get(wanted.paramsSha) ?? 0) - REMEMBERED;
      for (const given of [first, ...later]) {
        if (!given || given.version === 0) continue;
        const from = given === first ? asked : given.begun;
        if (given === first && given.version === 1 && from < deployed.firstReleaseAt) continue;
        const released = deployed.releasedDuring(from, given.at);
        if (released.includes(given.version)) continue;
        const then = released.join(', ') || 'nothing';
        yield { job: id, text: `got version ${given.version} while ${then} was released` };
      }
    }
  },
);
