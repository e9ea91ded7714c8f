import { failureOf } from '../../core/failure/failure.ts';
import { hasSuccessHooks } from '../../core/definition/hooks.ts';
import { decide, type Transition } from '../../core/job/lifecycle.ts';
import type { Clock } from '../../runtime/clock.ts';
import { sleep } from '../../runtime/deadline.ts';
import type { Log } from '../../runtime/log.ts';
import { inHalves } from '../../store/connection/in-halves.ts';
import type { Settlement } from '../../store/claim/settle.ts';
import type { Vault } from '../../store/connection/vault.ts';
import { type AttemptSignals, lineFields } from './attempt-signals.ts';
import type { Ended, Execution } from './execution.ts';
import type { QueuePort } from '../claim/port.ts';

export interface Finished {
  execution: Execution;
  ended: Ended;
  /**
   * The plain statement refused it although the claim still owns the job, so it needs the general
   * one.
   */
  refused?: boolean;
  /** The last decision about it. */
  decided?: Transition;
}

/** The most outcomes per statement in the final flush. */
const FLUSHED_MAX = 500;

/**
 * Outcomes that are not yet written. Each is kept until it is known to be written or refused: it
 * waits while the database is down, even when the worker loses its lease meanwhile, because the
 * claim decides whether it counts. An outcome that cannot be stored does not stop the others.
 */
export class Outbox {
  readonly #queue: QueuePort;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #signals: AttemptSignals | null;
  readonly #waiting: Finished[][];
  /**
   * The shard of each, by claim: the next claim of the same job may arrive before this one is
   * written.
   */
  readonly #unwritten = new Map<string, number>();
  #waits: { for: Set<string>; done: () => void }[] = [];

  constructor(queue: QueuePort, clock: Clock, log: Log, signals: AttemptSignals | null = null) {
    this.#queue = queue;
    this.#clock = clock;
    this.#log = log;
    this.#signals = signals;
    this.#waiting = Array.from({ length: queue.shards }, () => []);
  }

  add(execution: Execution, ended: Ended): void {
    this.#unwritten.set(claimKey(execution.job), execution.shard);
    this.#waiting[execution.shard]?.push({ execution, ended });
  }

  /** How many wait to be written to a shard. */
  count(shard: number): number {
    return this.#waiting[shard]?.length ?? 0;
  }

  /** Nothing waits and nothing is in flight. */
  get empty(): boolean {
    return this.#unwritten.size === 0;
  }

  /** Whether an outcome of this claim is not yet written. */
  has(claim: { id: string; claim: number }): boolean {
    return this.#unwritten.has(claimKey(claim));
  }

  /** Resolves when all current outcomes of a shard are written or refused. */
  async written(shard: number): Promise<void> {
    const names = new Set(this.#unwrittenOf(shard));
    if (names.size === 0) return;
    await new Promise<void>((done) => this.#waits.push({ for: names, done }));
  }

  #unwrittenOf(shard: number): string[] {
    return [...this.#unwritten].flatMap(([name, of]) => (of === shard ? [name] : []));
  }

  #forget(job: { id: string; claim: number }): void {
    const name = claimKey(job);
    this.#unwritten.delete(name);
    if (this.#waits.length === 0) return;
    for (const wait of this.#waits) {
      if (wait.for.delete(name) && wait.for.size === 0) wait.done();
    }
    this.#waits = this.#waits.filter((wait) => wait.for.size > 0);
  }

  take(shard: number, max: number): Finished[] {
    return this.#waiting[shard]?.splice(0, max) ?? [];
  }

  settlements(batch: readonly Finished[]): Settlement[] {
    return batch.map((item) => {
      const { job, tenant, definition, state } = item.execution;
      const rules = {
        state,
        attempts: job.attempts,
        maxAttempts: job.maxAttempts,
        interruptions: job.interruptions,
        maxInterruptions: definition.maxInterruptions,
        retry: job.policy?.retry ?? definition.retry,
        retryOn: definition.retryOn ?? job.policy?.defaultRetryOn ?? null,
      };
      const decided = decide(rules, item.ended.outcome, this.#clock.random());
      const transition = withSealedResult(this.#queue.vault, tenant, decided);
      item.decided = decided;
      return { id: job.id, claim: job.claim, was: state, transition, usage: item.ended.usage };
    });
  }

  /** Writes a batch. What cannot be written now is put back. */
  async write(shard: number, batch: readonly Finished[]): Promise<void> {
    if (batch.length === 0) return;
    const unanswered = new Set(batch);
    const write = async (part: readonly Finished[]) => {
      const settled = await this.#queue.settle(shard, this.settlements(part));
      for (const item of part) unanswered.delete(item);
      await this.conclude(shard, part, new Set(settled.map(({ id }) => id)));
    };
    const refused = async (item: Finished, error: unknown) => {
      unanswered.delete(item);
      await this.#refused(shard, item, error);
    };
    try {
      await inHalves(batch, write, refused);
    } catch (error) {
      this.putBack(shard, [...unanswered]);
      throw error;
    }
  }

  /** Writes the rest, for a worker that has stopped claiming. */
  async flush(): Promise<void> {
    const shards = [...this.#waiting.keys()];
    await Promise.all(shards.map(async (shard) => await this.#flushShard(shard)));
  }

  async #flushShard(shard: number): Promise<void> {
    const isDone = () => this.#unwrittenOf(shard).length === 0;
    for (let pauseMs = 50; !isDone(); pauseMs = Math.min(2_000, pauseMs * 2)) {
      await this.write(shard, this.take(shard, FLUSHED_MAX)).catch((error: unknown) => {
        this.#log.warn(
          { err: error, shard },
          'cannot write outcomes yet; waiting for the database',
        );
      });
      if (!isDone()) await sleep(pauseMs);
    }
  }

  putBack(shard: number, batch: readonly Finished[]): void {
    const kept = batch.filter(({ execution }) => this.has(execution.job));
    this.#waiting[shard]?.unshift(...kept);
  }

  /**
   * Handles the result of a batch: `settled` are the claims that passed the fence; null means all.
   */
  async conclude(
    shard: number,
    batch: readonly Finished[],
    settled: ReadonlySet<string> | null,
  ): Promise<void> {
    const refused: Finished[] = [];
    for (const item of batch) {
      const { execution, ended, decided } = item;
      const { id } = execution.job;
      if (settled === null || settled.has(id)) {
        this.#forget(execution.job);
        if (decided) this.#signals?.settled(execution, ended, decided);
      } else refused.push(item);
    }
    for (const item of refused) {
      await this.#explain(shard, item).catch(() => this.putBack(shard, [item]));
    }
  }

  /** It was not written: a cancel came first, it was written before, or the claim is lost. */
  async #explain(shard: number, item: Finished): Promise<void> {
    const { id, claim } = item.execution.job;
    const status = await this.#queue.settlementStatusOf(shard, id, claim);
    if (status.kind === 'owned') {
      item.execution.state = status.state;
      this.putBack(shard, [{ ...item, refused: true }]);
      return;
    }
    this.#forget(item.execution.job);
    if (status.kind === 'stale') {
      const facts = { ...lineFields(item.execution), claim };
      this.#log.warn(facts, 'a stale outcome was refused: the job has moved on');
    }
  }

  /** It cannot be stored as it is. If the result is the cause, the job fails. */
  async #refused(shard: number, item: Finished, error: unknown): Promise<void> {
    if (item.ended.outcome.kind === 'success') {
      const reason = error instanceof Error ? error.message : String(error);
      const problem = failureOf('RESULT_INVALID', `the result cannot be stored: ${reason}`);
      const outcome = { kind: 'failure', error: problem, retryAfterMs: null } as const;
      await this.write(shard, [{ ...item, ended: { ...item.ended, outcome } }]);
    } else {
      this.#log.error({ ...lineFields(item.execution), err: error }, 'cannot store an outcome');
      this.#forget(item.execution.job);
    }
  }
}

/** A success without hooks, permits or a cancel request: the common case, with a fast statement. */
export function isPlainSettlement({
  execution: { state, definition, job },
  ended,
  refused,
}: Finished): boolean {
  const succeeded = state === 'running' && ended.outcome.kind === 'success';
  return succeeded && !hasSuccessHooks(definition) && !job.limited && !refused;
}

function claimKey({ id, claim }: { id: string; claim: number }): string {
  return `${id}:${claim}`;
}

function withSealedResult(vault: Vault, tenant: string, transition: Transition): Transition {
  const { resultJson } = transition;
  if (vault.keyId === null || resultJson === null) return transition;
  return { ...transition, resultJson: vault.seal(tenant, resultJson) };
}
