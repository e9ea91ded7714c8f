import { failureOf } from '../core/failure.ts';
import { decide, type Transition } from '../core/lifecycle.ts';
import type { Clock } from '../runtime/clock.ts';
import { sleep } from '../runtime/deadline.ts';
import type { Log } from '../runtime/log.ts';
import { inHalves } from '../store/in-halves.ts';
import type { Settlement } from '../store/settle.ts';
import type { Vault } from '../store/vault.ts';
import { type AttemptSignals, lineFields } from './attempt-signals.ts';
import type { Ended, Execution } from './execution.ts';
import type { QueuePort } from './port.ts';

export interface Finished {
  execution: Execution;
  ended: Ended;
  /** It was refused once although the claim still owns the job, so it is no plain one. */
  refused?: boolean;
  /** What was decided about it last. */
  decided?: Transition;
}

/** So many of them share a statement at the end. */
const FLUSHED_MAX = 500;

/**
 * Outcomes on their way into the database. Each is kept until it is known to be written, or known to
 * be nobody's: while the database is away it waits, and one that cannot be stored does not hold back
 * the others.
 */
export class Outbox {
  readonly #queue: QueuePort;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #signals: AttemptSignals | null;
  readonly #waiting: Finished[][];
  readonly #unwritten = new Set<string>();

  constructor(queue: QueuePort, clock: Clock, log: Log, signals: AttemptSignals | null = null) {
    this.#queue = queue;
    this.#clock = clock;
    this.#log = log;
    this.#signals = signals;
    this.#waiting = Array.from({ length: queue.shards }, () => []);
  }

  add(execution: Execution, ended: Ended): void {
    this.#unwritten.add(execution.job.id);
    this.#waiting[execution.shard]?.push({ execution, ended });
  }

  /** How many wait to be written to a shard. */
  count(shard: number): number {
    return this.#waiting[shard]?.length ?? 0;
  }

  /** Nothing waits and nothing is under way. */
  get empty(): boolean {
    return this.#unwritten.size === 0;
  }

  /** Whether an outcome of this job is still to be written. */
  has(id: string): boolean {
    return this.#unwritten.has(id);
  }

  take(shard: number, max: number): Finished[] {
    return this.#waiting[shard]?.splice(0, max) ?? [];
  }

  /** The leases are lost, and with them the right to write: these outcomes are nobody's now. */
  abandon(): void {
    for (const waiting of this.#waiting) waiting.length = 0;
    this.#unwritten.clear();
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
        retryOn: job.policy?.retryOn ?? definition.retryOn,
      };
      const decided = decide(rules, item.ended.outcome, this.#clock.random());
      const transition = withSealedResult(this.#queue.vault, tenant, decided);
      item.decided = decided;
      return { id: job.id, claim: job.claim, was: state, transition, usage: item.ended.usage };
    });
  }

  /** Writes a batch. What the database cannot take now goes back and waits. */
  async write(shard: number, batch: readonly Finished[]): Promise<void> {
    if (batch.length === 0) return;
    const untold = new Set(batch);
    const write = async (part: readonly Finished[]) => {
      const settled = await this.#queue.settle(shard, this.settlements(part));
      for (const item of part) untold.delete(item);
      await this.conclude(shard, part, new Set(settled.map(({ id }) => id)));
    };
    const refused = async (item: Finished, error: unknown) => {
      untold.delete(item);
      await this.#refused(shard, item, error);
    };
    try {
      await inHalves(batch, write, refused);
    } catch (error) {
      this.putBack(shard, [...untold]);
      throw error;
    }
  }

  /** Writes what is left, for a worker that has stopped claiming. */
  async flush(): Promise<void> {
    for (let pauseMs = 50; !this.empty; pauseMs = Math.min(2_000, pauseMs * 2)) {
      for (const shard of this.#waiting.keys()) {
        await this.write(shard, this.take(shard, FLUSHED_MAX)).catch((error: unknown) => {
          this.#log.warn({ err: error }, 'outcomes wait for the database');
        });
      }
      if (!this.empty) await sleep(pauseMs);
    }
  }

  putBack(shard: number, batch: readonly Finished[]): void {
    const kept = batch.filter(({ execution }) => this.#unwritten.has(execution.job.id));
    this.#waiting[shard]?.unshift(...kept);
  }

  /** What became of a batch, when `settled` is what the fence let through; null means all of it. */
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
        this.#unwritten.delete(id);
        if (decided) this.#signals?.settled(execution, ended, decided);
      } else refused.push(item);
    }
    for (const item of refused) {
      await this.#explain(shard, item).catch(() => this.putBack(shard, [item]));
    }
  }

  /** It was not written: because a cancel came first, or because it was already, or never ours. */
  async #explain(shard: number, item: Finished): Promise<void> {
    const { id, claim } = item.execution.job;
    const fate = await this.#queue.fateOf(shard, id, claim);
    if (fate.kind === 'owned') {
      item.execution.state = fate.state;
      this.putBack(shard, [{ ...item, refused: true }]);
      return;
    }
    this.#unwritten.delete(id);
    if (fate.kind === 'stale') {
      const facts = { ...lineFields(item.execution), claim };
      this.#log.warn(facts, 'a stale outcome was refused: the job has moved on');
    }
  }

  /** It cannot be stored as it is. A result that is to blame becomes the failure of its job. */
  async #refused(shard: number, item: Finished, error: unknown): Promise<void> {
    const { id } = item.execution.job;
    if (item.ended.outcome.kind === 'success') {
      const reason = error instanceof Error ? error.message : String(error);
      const problem = failureOf('RESULT_INVALID', `the result cannot be stored: ${reason}`);
      const outcome = { kind: 'failure', error: problem, retryAfterMs: null } as const;
      await this.write(shard, [{ ...item, ended: { ...item.ended, outcome } }]);
    } else {
      this.#log.error({ ...lineFields(item.execution), err: error }, 'an outcome cannot be stored');
      this.#unwritten.delete(id);
    }
  }
}

function withSealedResult(vault: Vault, tenant: string, transition: Transition): Transition {
  const { resultJson } = transition;
  if (vault.keyId === null || resultJson === null) return transition;
  return { ...transition, resultJson: vault.seal(tenant, resultJson) };
}
