import { namesSealed, SEALED } from '../core/access/sealed.ts';
import type { SayRequest } from '../protocol/worker-protocol.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Mask } from '../worker/attempt/mask.ts';
import type { WorkerStore } from '../worker/claim/port.ts';
import type { DeliverySecrets } from './delivery-secrets.ts';
import { claimKey, type Held } from './held.ts';
import type { Delivery, RemoteWorker } from './remote-worker.ts';

/** A worker of our own masks what it sends. */
const UNMASKED = { text: (text: string) => text, json: (text: string) => text };

/** Stores what jobs of a remote worker report. What is about other jobs is refused as stale. */
export async function store(
  queue: WorkerStore,
  held: Held,
  secrets: DeliverySecrets,
  worker: RemoteWorker,
  { masked, logs, events, streams, progress, steps }: SayRequest,
  clock: Clock,
): Promise<{ stale: string[] }> {
  const all = [...logs, ...events, ...streams, ...progress, ...steps];
  const owned = await held.find(worker, all);
  const ours = <Item extends { id: string; claim: number }>(items: readonly Item[]) =>
    items.flatMap((item) => {
      const delivery = owned.get(claimKey(item));
      return delivery ? [{ item, delivery }] : [];
    });
  const stale = new Set(all.filter((one) => !owned.has(claimKey(one))).map(({ id }) => id));
  const masks = new Map<Delivery, Pick<Mask, 'text' | 'json'>>();
  for (const delivery of masked ? [] : owned.values()) {
    masks.set(delivery, await secrets.maskOf(delivery));
  }
  const mask = (delivery: Delivery) => masks.get(delivery) ?? UNMASKED;
  const nowMs = clock.now().getTime();
  for (const shard of new Set([...owned.values()].map((delivery) => delivery.shard))) {
    const here = ({ delivery }: { delivery: Delivery }) => delivery.shard === shard;
    await queue.writeLogs(
      shard,
      ours(logs)
        .filter(here)
        .map(({ item: { id, claim, n, lines }, delivery }) => ({
          id,
          claim,
          n,
          attempt: delivery.job.attempts,
          lines: lines.map(({ ageMs, message, ...line }) => ({
            ...line,
            message: mask(delivery).text(plain(message)),
            atMs: nowMs - ageMs,
          })),
        })),
    );
    await queue.writeEvents(
      shard,
      ours(events)
        .filter(here)
        .map(({ item, delivery }) => ({
          ...item,
          payloadJson: mask(delivery).json(json(item.payloadJson)),
          attempt: delivery.job.attempts,
        })),
    );
    await queue.writeStreams(
      shard,
      ours(streams)
        .filter(here)
        .map(({ item: { id, claim, n, text }, delivery }) => {
          const shown = mask(delivery).text(plain(text));
          const data = queue.vault.sealText(worker.tenant, shown, 'value');
          return { id, claim, n, attempt: delivery.job.attempts, data };
        }),
    );
    await queue.saveProgress(
      shard,
      ours(progress)
        .filter(here)
        .map(({ item, delivery }) => ({
          ...item,
          message: item.message === null ? null : mask(delivery).text(plain(item.message)),
        })),
    );
    for (const { item } of ours(steps).filter(here)) {
      const valueJson = queue.vault.seal(worker.tenant, json(item.valueJson));
      if (!(await queue.saveStep(shard, { ...item, valueJson }))) stale.add(item.id);
    }
  }
  return { stale: [...stale] };
}

/** PostgreSQL text cannot hold NUL, and a lone surrogate is not valid text. */
function plain(text: string): string {
  return text.replaceAll('\u0000', '\uFFFD').toWellFormed();
}

/** Many values are written in one statement, so each must be exactly one JSON value. */
function json(text: string): string {
  try {
    JSON.parse(text);
  } catch {
    throw new Refusal('VALIDATION_FAILED', 'a value is not JSON');
  }
  if (namesSealed(text)) {
    throw new Refusal('VALIDATION_FAILED', `the key ${SEALED} is not allowed in a value`);
  }
  return text;
}
