import type { WorkerView } from '../../../../src/core/queue/worker.ts';
import { timeSince } from '../moment.ts';
import { ownersOf } from './owners.ts';
import { msSince, pendingOf, type Seen, type Trouble } from '../seen.ts';

/** A dead worker is listed this long; after that only while jobs wait for it. */
const DEATH_SHOWN_MS = 60 * 60_000;

export function deadWorkers(seen: Seen, now: Date): Trouble[] {
  const { workers, definitions } = seen;
  const owners = ownersOf(definitions);
  const pending = pendingOf(seen);
  return workers.flatMap((worker) => {
    const { status, lost, host, pid, heartbeatAt, leaseExpiresAt } = worker;
    const unserved = onlyThere(worker, workers);
    const isDead = status === 'dead';
    const matters = isDead
      ? lost &&
        (msSince(heartbeatAt, now) < DEATH_SHOWN_MS || unserved.some((key) => pending.has(key)))
      : msSince(leaseExpiresAt, now) > 0;
    if (!matters) return [];
    const hit = [...new Set(unserved.flatMap((key) => owners.get(key) ?? []))];
    const state = isDead ? 'died' : 'is silent';
    return {
      text: `Worker ${host} (pid ${pid}) ${state}; last heartbeat ${timeSince(heartbeatAt, now)} ago.`,
      owner: hit.length === 0 ? null : hit.join(', '),
      target: { at: 'workers' as const },
    };
  });
}

/** Definitions that no other live worker has. */
function onlyThere(
  { definitions, workerId }: WorkerView,
  workers: readonly WorkerView[],
): string[] {
  const others = workers.filter((other) => other.status !== 'dead' && other.workerId !== workerId);
  const served = new Set(others.flatMap((other) => other.definitions));
  return definitions.filter((name) => !served.has(name)).map((name) => name.replace(/@\d+$/, ''));
}
