import type { Transition } from '../core/lifecycle.ts';
import type { Db } from '../store/db.ts';
import { claim } from '../store/claim.ts';
import { publishDefinitions } from '../store/definitions.ts';
import { writeEvents } from '../store/events.ts';
import { findLines } from '../store/find-lines.ts';
import { claimGated } from '../store/gated-claim.ts';
import { heldFacts } from '../store/held-facts.ts';
import { servedLanes } from '../store/lanes.ts';
import { writeLogChunks } from '../store/log-chunks.ts';
import { withPartitions } from '../store/partitions.ts';
import { saveProgress } from '../store/progress.ts';
import { fateOf } from '../store/fate.ts';
import { settle } from '../store/settle.ts';
import { loadSteps, saveStep } from '../store/steps.ts';
import { syncLimits } from '../store/sync-limits.ts';
import { takeTurn } from '../store/turn.ts';
import type { Waker } from '../store/wake.ts';
import { heartbeat, lookAtLease, registerWorker, retireWorker } from '../store/workers.ts';
import type { QueuePort } from './port.ts';

/** How long until the job is due again; nothing when it waits for no time. */
function waitMs({ to, delayMs }: Transition): number[] {
  return to === 'retrying' || to === 'scheduled' ? [delayMs ?? 0] : [];
}

/**
 * The queue in PostgreSQL. Heartbeats have a connection of their own: however busy the other ones
 * are, the lease of a healthy worker is renewed.
 */
export function postgresQueue(db: Db, reserved: Db, waker: Waker): QueuePort {
  return {
    shards: db.shards,
    vault: db.vault,
    publish: async (definitions) => {
      await publishDefinitions(db, definitions);
      await syncLimits(
        db,
        definitions.map(({ key }) => key),
      );
    },
    lanes: async (shard, definitions) => await servedLanes(db, shard, definitions),
    findLines: async (shard, lanes) => await findLines(db, shard, lanes),
    claim: async (shard, limit, instance, lines) =>
      await withPartitions(db, async () => await claim(db, shard, limit, instance, lines)),
    claimGated: async (shard, limit, instance, lines) => {
      const claimed = await withPartitions(
        db,
        async () => await claimGated(db, shard, limit, instance, lines),
      );
      if (claimed.keyOpensInMs !== null) waker.wakeScheduler([claimed.keyOpensInMs]);
      return claimed;
    },
    turn: async (shard, turn) =>
      await withPartitions(db, async () => await takeTurn(db, shard, turn)),
    settle: async (shard, settlements) => {
      const settled = await withPartitions(db, async () => await settle(db, shard, settlements));
      waker.wake(settled.flatMap(({ lines }) => lines));
      waker.wakeScheduler(settlements.flatMap(({ transition }) => waitMs(transition)));
      return settled;
    },
    fateOf: async (shard, id, claimNo) => await fateOf(db, shard, id, claimNo),
    heldFacts: async (shard, id) => await heldFacts(db, shard, id),
    writeLogs: async (shard, chunks) =>
      await withPartitions(db, async () => await writeLogChunks(db, shard, chunks)),
    writeEvents: async (shard, events) =>
      await withPartitions(db, async () => await writeEvents(db, shard, events)),
    saveStep: async (shard, step) =>
      await withPartitions(db, async () => await saveStep(db, shard, step)),
    loadSteps: async (shard, id) => await loadSteps(db, shard, id),
    saveProgress: async (shard, updates) => await saveProgress(db, shard, updates),
    register: async (shard, worker) => await registerWorker(reserved, shard, worker),
    heartbeat: async (shard, instance, leaseMs, contactMs) =>
      await heartbeat(reserved, shard, instance, leaseMs, contactMs),
    look: async (shard, instance) => await lookAtLease(reserved, shard, instance),
    retire: async (shard, instance) => await retireWorker(reserved, shard, instance),
  };
}
