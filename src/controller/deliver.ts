import { mayHoldLarge } from '../core/large/large-value.ts';
import { PARENTS_STEP } from '../core/dependency/dependency.ts';
import type { DeliveredJob } from '../protocol/worker-protocol.ts';
import { unreadable as unreadableEnd } from '../worker/attempt/unreadable.ts';
import { CHILDREN_STEP } from '../core/dependency/children.ts';
import { childrenJson, parentsJson } from '../worker/attempt/parents.ts';
import type { Finished } from '../worker/attempt/outcome-writer.ts';
import type { WorkerStore } from '../worker/claim/port.ts';
import type { DeliverySecrets } from './delivery-secrets.ts';
import type { Delivery } from './remote-worker.ts';
import { attemptOf } from './worker-group.ts';

export interface Delivered {
  jobs: DeliveredJob[];
  /** By shard: jobs whose input cannot be read end here, or wait for the storage. */
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
      const ended = unreadableEnd(error);
      if (!ended) throw error;
      const item = { execution: attemptOf(delivery), ended };
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
    ...(job.policy?.paramsShape !== undefined && { paramsShape: job.policy.paramsShape }),
    paramsJson: await openedParams(store, delivery),
    timeoutMs,
    interruptions,
    traceparent,
  };
  // A first claim has no earlier attempts, so most jobs need no query.
  const hasParents = job.policy?.hasParents ?? false;
  if (claim === 1 && !hasParents) return { ...sent, saved: null };
  const { checkpointJson, steps } = await store.loadSteps(shard, id);
  if (checkpointJson === null && steps.length === 0 && !hasParents) return { ...sent, saved: null };
  const opened = steps.map((step) => ({ ...step, valueJson: open(step.valueJson) }));
  const family = opened.find(({ name }) => name === CHILDREN_STEP);
  if (family) {
    const children = await store.loadChildren(shard, id);
    if (children) family.valueJson = await childrenJson(store, tenant, children);
  }
  if (hasParents) {
    const parents = await store.loadParents(shard, id);
    const valueJson = await parentsJson(store, tenant, parents);
    opened.push({ name: PARENTS_STEP, valueJson, ageMs: 0 });
  }
  return {
    ...sent,
    saved: {
      checkpointJson: checkpointJson === null ? null : open(checkpointJson),
      steps: opened,
    },
  };
}

/** The params as the worker gets them. Throws what `unreadable` knows. */
export async function openedParams(
  { vault, large }: Pick<WorkerStore, 'vault' | 'large'>,
  { job: { paramsJson }, tenant }: Delivery,
): Promise<string> {
  const isLarge = large !== undefined && mayHoldLarge(paramsJson);
  return isLarge ? await large.open(tenant, paramsJson) : vault.open(tenant, paramsJson);
}
