import { CannotOpen } from '../core/access/sealed.ts';
import { PARENTS_STEP } from '../core/dependency/dependency.ts';
import type { DeliveredJob } from '../protocol/worker-protocol.ts';
import { unreadable as unreadableEnd } from '../worker/attempt/execution.ts';
import { CHILDREN_STEP } from '../core/dependency/children.ts';
import { childrenJson, parentsJson } from '../worker/attempt/parents.ts';
import type { Finished } from '../worker/attempt/outcome-writer.ts';
import type { WorkerStore } from '../worker/claim/port.ts';
import type { DeliverySecrets } from './delivery-secrets.ts';
import type { Delivery } from './remote-worker.ts';
import { attemptOf } from './worker-group.ts';

export interface Delivered {
  jobs: DeliveredJob[];
  /** By shard: jobs that cannot be decrypted end here. */
  unreadable: Map<number, Finished[]>;
}

/** Claimed jobs as they are sent: decrypted, with their secrets and what earlier attempts stored. */
export async function deliver(
  store: WorkerStore,
  secrets: DeliverySecrets,
  deliveries: readonly Delivery[],
): Promise<Delivered> {
  const delivered: Delivered = { jobs: [], unreadable: new Map() };
  for (const delivery of deliveries) {
    try {
      delivered.jobs.push(await deliverOne(store, secrets, delivery));
    } catch (error) {
      if (!(error instanceof CannotOpen)) throw error;
      const item = { execution: attemptOf(delivery), ended: unreadableEnd(error) };
      const batch = delivered.unreadable.get(delivery.shard) ?? [];
      delivered.unreadable.set(delivery.shard, [...batch, item]);
    }
  }
  return delivered;
}

async function deliverOne(
  store: WorkerStore,
  secrets: DeliverySecrets,
  delivery: Delivery,
): Promise<DeliveredJob> {
  const { shard, job, definition, tenant } = delivery;
  const { id, claim, attempts, maxAttempts, interruptions, traceparent } = job;
  const { key, version } = definition;
  const open = (json: string) => store.vault.open(tenant, json);
  const facts = { id, claim, attempt: attempts, maxAttempts, key, version };
  const timeoutMs = job.policy?.timeoutMs ?? definition.timeoutMs;
  const given = delivery.secretsMark === null ? null : await secrets.of(delivery);
  const sent = {
    ...facts,
    ...(given && { secrets: { ...given.values } }),
    paramsJson: open(job.paramsJson),
    timeoutMs,
    interruptions,
    traceparent,
  };
  // A first claim has no earlier attempts, so most jobs need no query.
  const hasParents = job.policy?.hasParents ?? false;
  if (claim === 1 && !hasParents) return { ...sent, saved: null };
  const { checkpointJson, steps } = await store.loadSteps(shard, id);
  if (checkpointJson === null && steps.length === 0 && !hasParents) return { ...sent, saved: null };
  const opened = steps.map(({ name, valueJson }) => ({ name, valueJson: open(valueJson) }));
  const family = opened.find(({ name }) => name === CHILDREN_STEP);
  if (family) {
    const children = await store.loadChildren(shard, id);
    if (children) family.valueJson = childrenJson(store.vault, tenant, children);
  }
  if (hasParents) {
    const parents = await store.loadParents(shard, id);
    opened.push({ name: PARENTS_STEP, valueJson: parentsJson(store.vault, tenant, parents) });
  }
  return {
    ...sent,
    saved: {
      checkpointJson: checkpointJson === null ? null : open(checkpointJson),
      steps: opened,
    },
  };
}
