import { namesSealed, SEALED } from '../core/access/sealed.ts';
import { definitionName } from '../core/definition/definition.ts';
import { failureOf } from '../core/failure/failure.ts';
import { NO_USAGE } from '../core/job/job.ts';
import { shardOfJobId } from '../core/job/job-id.ts';
import type { Outcome } from '../core/job/lifecycle.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { HeldClaim, ReportedOutcome, TurnReply } from '../protocol/worker-protocol.ts';
import type { Db } from '../store/connection/db.ts';
import {
  findHeldJobs,
  findUnheldJobs,
  recordTurn,
  type HeldJob,
  settledBy,
} from '../store/workers/remote-workers.ts';
import type { Finished } from '../worker/attempt/outcome-writer.ts';
import { UNKNOWN_SECRETS } from '../worker/attempt/secrets.ts';
import { outcomeOf } from '../worker/runners/parse-message.ts';
import type { DeliverySecrets } from './delivery-secrets.ts';
import type { Delivery, RemoteWorker } from './remote-worker.ts';
import type { TurnOutcomes } from './turn-outcomes.ts';
import { attemptOf } from './worker-group.ts';

/** The reported outcomes of one call that may be written. */
export interface Batches {
  finished: Map<number, Finished[]>;
  items: Map<ReportedOutcome, Finished>;
}

const RESERVED: Outcome = {
  kind: 'failure',
  error: failureOf('RESULT_INVALID', `the key ${SEALED} is not allowed: it marks encrypted values`),
  retryAfterMs: null,
};
const WORKERS_MAX = 10_000;
const CLAIMS_MAX = 5_000;

/**
 * Which jobs remote workers hold. Deliveries of this process are remembered, which saves a query
 * when their outcomes arrive; others are read. A claim that does not belong to the instance is not
 * found, so a worker can only write about its own jobs.
 */
export class Held {
  readonly #db: Db;
  readonly #secrets: DeliverySecrets;
  readonly #deliveries = new Map<string, Map<string, Delivery>>();
  readonly #resultMaxBytes: number | undefined;
  readonly #reread: (worker: RemoteWorker) => Promise<RemoteWorker>;

  /** `reread` reads again what the worker serves: another process may have registered more. */
  constructor(
    db: Db,
    secrets: DeliverySecrets,
    reread: (worker: RemoteWorker) => Promise<RemoteWorker>,
    resultMaxBytes?: number,
  ) {
    this.#db = db;
    this.#reread = reread;
    this.#resultMaxBytes = resultMaxBytes;
    this.#secrets = secrets;
  }

  add(instance: string, deliveries: readonly Delivery[]): void {
    if (deliveries.length === 0) return;
    // Only a cache: what is forgotten is read again.
    if (this.#deliveries.size > WORKERS_MAX) this.#deliveries.clear();
    const own = this.#deliveries.get(instance) ?? new Map<string, Delivery>();
    if (own.size > CLAIMS_MAX) own.clear();
    this.#deliveries.set(instance, own);
    for (const delivery of deliveries) own.set(claimKey(delivery.job), delivery);
  }

  forget(instance: string, deliveries: readonly Delivery[]): void {
    const own = this.#deliveries.get(instance);
    for (const { job } of deliveries) own?.delete(claimKey(job));
  }

  forgetAll(instance: string): void {
    this.#deliveries.delete(instance);
  }

  /** The deliveries of these claims that the worker owns, by claim. */
  async find(
    worker: RemoteWorker,
    claims: readonly HeldClaim[],
  ): Promise<ReadonlyMap<string, Delivery>> {
    const found = new Map<string, Delivery>();
    const unknown = new Map<number, string[]>();
    for (const one of claims) {
      const known = this.#deliveries.get(worker.instance)?.get(claimKey(one));
      const shard = shardOfJobId(one.id);
      if (known) found.set(claimKey(one), known);
      else if (shard < this.#db.shards) {
        unknown.set(shard, [...(unknown.get(shard) ?? []), one.id]);
      }
    }
    for (const [shard, ids] of unknown) {
      const jobs = await findHeldJobs(this.#db, shard, worker.instance, ids);
      for (const delivery of await this.#deliveriesOf(worker, shard, jobs)) {
        found.set(claimKey(delivery.job), delivery);
      }
    }
    return found;
  }

  /**
   * A job that the worker owns and seems not to serve was claimed by a process that knows more: a deploy
   * may replace one definition by another, so their number does not show it.
   */
  async #deliveriesOf(
    worker: RemoteWorker,
    shard: number,
    jobs: readonly (HeldJob & { paramsJson: string })[],
  ): Promise<Delivery[]> {
    const missing = jobs.some((job) => deliveryOf(worker, shard, job) === null);
    const current = missing ? await this.#reread(worker) : worker;
    return jobs.flatMap((job) => deliveryOf(current, shard, job) ?? []);
  }

  async batches(
    worker: RemoteWorker,
    reported: readonly ReportedOutcome[],
    masked: boolean,
  ): Promise<Batches> {
    const batches: Batches = { finished: new Map(), items: new Map() };
    const owned = await this.find(worker, reported);
    for (const one of reported) {
      const delivery = owned.get(claimKey(one));
      if (!delivery) continue;
      const execution = attemptOf(delivery);
      execution.durationMs = one.durationMs ?? null;
      const usage = { ...NO_USAGE, ...one.usage };
      const outcome = outcomeFrom(one, this.#resultMaxBytes);
      if (!masked) await this.#mask(delivery, outcome);
      const item: Finished = { execution, ended: { outcome, usage } };
      const batch = batches.finished.get(delivery.shard) ?? [];
      batches.finished.set(delivery.shard, batch);
      batch.push(item);
      batches.items.set(one, item);
    }
    return batches;
  }

  async #mask(delivery: Delivery, outcome: Outcome): Promise<void> {
    if (outcome.kind !== 'failure' && outcome.kind !== 'success') return;
    const mask = await this.#secrets.maskOf(delivery);
    if (outcome.kind === 'failure') outcome.error = mask.error(outcome.error);
    else outcome.resultJson = mask.result(outcome.resultJson);
  }

  /** The outcomes that need not be sent again, with the next state of their jobs. */
  async settled(
    worker: RemoteWorker,
    reported: readonly ReportedOutcome[],
    { items }: Batches,
    { results }: TurnOutcomes,
  ): Promise<TurnReply['settled']> {
    const settled: TurnReply['settled'] = [];
    const foreign: ReportedOutcome[] = [];
    const own = this.#deliveries.get(worker.instance);
    for (const one of reported) {
      const item = items.get(one);
      const what = item && results.get(item);
      if (!item) foreign.push(one);
      if (what === undefined || what === 'unknown' || typeof what === 'object') continue;
      own?.delete(claimKey(one));
      const next = what === 'written' ? (item?.decided?.to ?? null) : null;
      settled.push({ id: one.id, claim: one.claim, next });
    }
    return [...settled, ...(await this.#explain(worker, foreign))];
  }

  /** Outcomes of claims that the worker does not own: written before, or lost. */
  async #explain(
    worker: RemoteWorker,
    reported: readonly ReportedOutcome[],
  ): Promise<TurnReply['settled']> {
    const written = new Map<string, string>();
    for (const shard of new Set(reported.map(({ id }) => shardOfJobId(id)))) {
      if (shard >= this.#db.shards) continue;
      const claims = reported.filter(({ id }) => shardOfJobId(id) === shard);
      const found = await settledBy(this.#db, shard, worker.instance, claims);
      for (const [id, next] of found) written.set(id, next);
    }
    return reported.map(({ id, claim }) => ({ id, claim, next: written.get(id) ?? null }));
  }

  /** Jobs that the worker owns and does not hold: the answer to their claim was lost. */
  async unheld(
    worker: RemoteWorker,
    holding: readonly HeldClaim[],
    reported: readonly HeldClaim[],
    limit: number,
  ): Promise<Delivery[]> {
    const held = [...holding, ...reported].map(({ id }) => id);
    const found: Delivery[] = [];
    for (let shard = 0; shard < this.#db.shards && found.length < limit; shard += 1) {
      const max = limit - found.length;
      await recordTurn(this.#db, shard, worker.instance);
      const jobs = await findUnheldJobs(this.#db, shard, worker.instance, held, max);
      found.push(...(await this.#deliveriesOf(worker, shard, jobs)));
    }
    return found;
  }
}

export function claimKey({ id, claim }: HeldClaim): string {
  return `${id}:${claim}`;
}

/** Null when the worker does not serve the definition. */
function deliveryOf(
  worker: RemoteWorker,
  shard: number,
  { key, version, state: _state, ...job }: HeldJob & { paramsJson: string },
): Delivery | null {
  const name = definitionName({ key, version });
  const definition = worker.definitions.find((one) => definitionName(one) === name);
  if (!definition) return null;
  const secretsMark = UNKNOWN_SECRETS;
  const claimed = { ...job, seq: 0, watched: false, waitedMs: null };
  return { shard, definition, tenant: worker.tenant, job: claimed, secretsMark };
}

function outcomeFrom({ id, outcome }: ReportedOutcome, resultMaxBytes?: number): Outcome {
  if (outcome.kind === 'interrupted' || outcome.kind === 'unstarted') return outcome;
  try {
    const read = outcomeOf(outcome, resultMaxBytes);
    if (read?.kind === 'success' && namesSealed(read.resultJson)) return RESERVED;
    if (read) return read;
  } catch {
    // Not JSON.
  }
  throw new Refusal('VALIDATION_FAILED', `the outcome of job ${id} is not valid`);
}
