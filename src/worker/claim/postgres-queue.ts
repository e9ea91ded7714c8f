import { definitionName } from '../../core/definition/definition.ts';
import type { Transition } from '../../core/job/lifecycle.ts';
import type { Db } from '../../store/connection/db.ts';
import { readSecrets } from '../../store/access/secrets.ts';
import { claim } from '../../store/claim/claim.ts';
import { publishDefinitions } from '../../store/enqueue/definitions.ts';
import { writeEvents } from '../../store/attempt/events.ts';
import { claimLimited } from '../../store/claim/limited-claim.ts';
import { runningFacts } from '../../store/claim/running-facts.ts';
import { servedQueues } from '../../store/enqueue/queues.ts';
import { writeLogChunks } from '../../store/attempt/log-chunks.ts';
import { writeStreamChunks } from '../../store/attempt/stream-chunks.ts';
import { withPartitions } from '../../store/connection/partitions.ts';
import { saveProgress } from '../../store/attempt/progress.ts';
import { settlementStatusOf } from '../../store/claim/settlement-status.ts';
import { settle } from '../../store/claim/settle.ts';
import { loadChildren } from '../../store/edges/load-children.ts';
import { loadParents } from '../../store/edges/load-parents.ts';
import { resolveSoon } from '../../store/edges/resolve-ended.ts';
import { loadSteps } from '../../store/attempt/steps.ts';
import { syncLimits } from '../../store/limits/sync-limits.ts';
import { writeTimings } from '../../store/counters/timings.ts';
import { settleAndClaim } from '../../store/claim/settle-and-claim.ts';
import type { LargeValues } from '../../large/large-values.ts';
import type { Waker } from '../../store/connection/wake.ts';
import { settleUndelivered } from '../../store/workers/remote-workers.ts';
import {
  announceDefinitions,
  heartbeat,
  readLease,
  registerWorker,
  retireWorker,
} from '../../store/workers/workers.ts';
import type { WorkerStore } from './port.ts';
import { type SetUp, ShardSetup } from './shard-setup.ts';
import { StepSaves } from './step-saves.ts';

/** The time until the job is due again; empty when it does not wait for a time. */
function waitMs({ to, delayMs }: Transition): number[] {
  const waits = to === 'retrying' || to === 'scheduled' || to === 'suspended';
  return waits && delayMs !== null ? [delayMs] : [];
}

/**
 * Moves on what waits for jobs that ended in this shard. The settlement waits for one round at most: a job
 * that very many wait for needs more of them, and meanwhile the worker claims and settles. With several
 * shards, who waits may be in one that does not answer, so it waits for none.
 */
async function moveOn(db: Db, shard: number): Promise<void> {
  if (db.shards > 1 || (await resolveSoon(db, shard, 1))) void resolveSoon(db, shard);
}

/**
 * The queue in PostgreSQL. Heartbeats have a connection of their own, so a busy pool does not delay
 * the renewal of the lease.
 */
export function postgresQueue(
  db: Db,
  reserved: Db,
  waker: Waker,
  spawn: WorkerStore['spawn'] = async () => ({ problem: 'this worker stores no children' }),
  large?: LargeValues,
  setUp: SetUp = async () => undefined,
): WorkerStore {
  const setup = new ShardSetup(db.shards, async (shard, definitions) => {
    await syncLimits(
      db,
      definitions.map(({ key }) => key),
      [shard],
    );
    await setUp(shard, definitions);
  });
  const steps = new StepSaves(db);
  return {
    spawn,
    shards: db.shards,
    vault: db.vault,
    large,
    publish: async (definitions) => {
      await publishDefinitions(db, definitions);
      await setup.publish(definitions);
    },
    queues: async (shard, definitions) => await servedQueues(db, shard, definitions),
    claim: async (shard, limit, instance, levels) =>
      await withPartitions(db, async () => await claim(db, shard, limit, instance, levels)),
    claimLimited: async (shard, limit, instance, levels) => {
      const claimed = await withPartitions(
        db,
        async () => await claimLimited(db, shard, limit, instance, levels),
      );
      if (claimed.keyOpensInMs !== null) waker.wakeScheduler(shard, [claimed.keyOpensInMs]);
      return claimed;
    },
    settleAndClaim: async (shard, batch) =>
      await withPartitions(db, async () => await settleAndClaim(db, shard, batch)),
    settle: async (shard, settlements) => {
      const settled = await withPartitions(db, async () => await settle(db, shard, settlements));
      waker.wake(settled.flatMap(({ levels }) => levels));
      waker.wakeScheduler(
        shard,
        settlements.flatMap(({ transition }) => waitMs(transition)),
      );
      if (settled.some(({ watched }) => watched)) await moveOn(db, shard);
      return settled;
    },
    settleUndelivered: async (shard, instance, settlements) => {
      const settled = await withPartitions(
        db,
        async () => await settleUndelivered(db, shard, instance, settlements),
      );
      waker.wake(settled.flatMap(({ levels }) => levels));
      return settled;
    },
    writeTimings: async (shard, timings) => await writeTimings(db, shard, timings),
    settlementStatusOf: async (shard, id, claimNo) =>
      await settlementStatusOf(db, shard, id, claimNo),
    runningFacts: async (shard, id) => await runningFacts(db, shard, id),
    writeLogs: async (shard, chunks) =>
      await withPartitions(db, async () => await writeLogChunks(db, shard, chunks)),
    writeEvents: async (shard, events) =>
      await withPartitions(db, async () => await writeEvents(db, shard, events)),
    writeStreams: async (shard, chunks) =>
      await withPartitions(db, async () => await writeStreamChunks(db, shard, chunks)),
    saveStep: async (shard, step) => await steps.save(shard, step),
    loadSteps: async (shard, id) => await loadSteps(db, shard, id),
    loadParents: async (shard, id) => await loadParents(db, shard, id),
    loadChildren: async (shard, id) => await loadChildren(db, shard, id),
    saveProgress: async (shard, updates) => await saveProgress(db, shard, updates),
    readSecrets: async (tenant, definitionKey) => await readSecrets(db, tenant, definitionKey),
    register: async (shard, worker) => {
      await setup.ready(shard);
      await registerWorker(reserved, shard, worker);
    },
    announce: async (shard, instance, definitions) => {
      const names = definitions.map(definitionName);
      if (instance !== null) await announceDefinitions(reserved, shard, instance, names);
    },
    heartbeat: async (shard, instance, leaseMs, contactMs) =>
      await heartbeat(reserved, shard, instance, leaseMs, contactMs),
    readLease: async (shard, instance) => await readLease(reserved, shard, instance),
    retire: async (shard, instance) => await retireWorker(reserved, shard, instance),
  };
}
