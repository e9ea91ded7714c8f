import type { DefinitionInfo } from '../core/definition.ts';
import { failureOf } from '../core/failure.ts';
import { NO_USAGE, type OwnedState } from '../core/job.ts';
import { decide } from '../core/lifecycle.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { sleep } from '../runtime/deadline.ts';
import type { ClaimedJob } from '../store/claim.ts';
import { DatabaseUnavailable } from '../store/db.ts';
import type { Settlement } from '../store/settle.ts';
import type { Ended, Execution } from './execution.ts';
import type { QueuePort } from './port.ts';

interface Finished {
  shard: number;
  job: ClaimedJob;
  definition: DefinitionInfo;
  state: OwnedState;
  ended: Ended;
}

const BATCH_MAX = 500;
const RETRY_MS_MAX = 2_000;

/**
 * Outcomes on their way into the database. While one batch is being written the next one gathers, so
 * a busy worker writes many with one commit and an idle one writes at once. An outcome is kept until
 * it is known to be written, or known to be nobody's: while the database is away it is tried again,
 * and one that cannot be stored does not hold back the others.
 */
export class SettleBatch {
  readonly #queue: QueuePort;
  readonly #clock: Clock;
  readonly #log: Log;
  #waiting: Finished[] = [];
  readonly #unwritten = new Set<string>();
  #flushing: Promise<void> | undefined;

  constructor(queue: QueuePort, clock: Clock, log: Log) {
    this.#queue = queue;
    this.#clock = clock;
    this.#log = log;
  }

  add({ shard, job, definition, state }: Execution, ended: Ended): void {
    this.#waiting.push({ shard, job, definition, state, ended });
    this.#unwritten.add(job.id);
    this.#flushing ??= this.#flush().finally(() => (this.#flushing = undefined));
  }

  /** Whether an outcome of this job waits to be written. */
  has(id: string): boolean {
    return this.#unwritten.has(id);
  }

  async settled(): Promise<void> {
    await this.#flushing;
  }

  /** The leases are lost, and with them the right to write: these outcomes are nobody's now. */
  abandon(): void {
    for (const { job } of this.#waiting) this.#unwritten.delete(job.id);
    this.#waiting = [];
  }

  interrupted(message: string): Ended {
    return { outcome: { kind: 'interrupted', message }, usage: NO_USAGE };
  }

  async #flush(): Promise<void> {
    let pauseMs = 50;
    while (this.#waiting.length > 0) {
      const batch = this.#takeBatch();
      try {
        await this.#write(batch);
        pauseMs = 50;
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable)) throw error;
        this.#log.warn({ err: error, outcomes: batch.length }, 'outcomes wait for the database');
        this.#waiting.unshift(...batch);
        await sleep(pauseMs);
        pauseMs = Math.min(RETRY_MS_MAX, pauseMs * 2);
      }
    }
  }

  /** One shard at a time, since one statement names one shard. */
  #takeBatch(): Finished[] {
    const shard = this.#waiting[0]?.shard;
    const fits = this.#waiting.filter((item) => item.shard === shard).slice(0, BATCH_MAX);
    const taken = new Set(fits);
    this.#waiting = this.#waiting.filter((item) => !taken.has(item));
    return fits;
  }

  async #write(batch: Finished[]): Promise<void> {
    const [first] = batch;
    if (!first) return;
    let written;
    try {
      const settlements = batch.map((item) => this.#settlement(item));
      written = await this.#queue.settle(first.shard, settlements);
    } catch (error) {
      if (error instanceof DatabaseUnavailable) throw error;
      return await this.#split(batch, error);
    }
    const done = new Set(written.map(({ id }) => id));
    for (const item of batch) {
      if (done.has(item.job.id)) this.#unwritten.delete(item.job.id);
      else await this.#explain(item);
    }
  }

  #settlement({ job, definition, state, ended }: Finished): Settlement {
    const rules = {
      state,
      attempts: job.attempts,
      maxAttempts: job.maxAttempts,
      interruptions: job.interruptions,
      maxInterruptions: definition.maxInterruptions,
      retry: job.policy?.retry ?? definition.retry,
      retryOn: definition.retryOn,
    };
    const transition = decide(rules, ended.outcome, this.#clock.random());
    return { id: job.id, claim: job.claim, was: state, transition, usage: ended.usage };
  }

  /** The statement refused: find out which one it cannot take, and let the others through. */
  async #split(batch: Finished[], error: unknown): Promise<void> {
    const [only] = batch;
    if (batch.length > 1) {
      const middle = Math.ceil(batch.length / 2);
      await this.#write(batch.slice(0, middle));
      await this.#write(batch.slice(middle));
    } else if (only && only.ended.outcome.kind === 'success') {
      const reason = error instanceof Error ? error.message : String(error);
      const problem = failureOf('RESULT_INVALID', `the result cannot be stored: ${reason}`);
      const outcome = { kind: 'failure', error: problem, retryAfterMs: null } as const;
      await this.#write([{ ...only, ended: { ...only.ended, outcome } }]);
    } else if (only) {
      this.#log.error({ jobId: only.job.id, err: error }, 'an outcome cannot be stored');
      this.#unwritten.delete(only.job.id);
    }
  }

  /** It was not written: because a cancel came first, or because it was already, or never ours. */
  async #explain(item: Finished): Promise<void> {
    const { id, claim } = item.job;
    const fate = await this.#queue.fateOf(item.shard, id, claim);
    if (fate.kind === 'owned') {
      this.#waiting.push({ ...item, state: fate.state });
      return;
    }
    this.#unwritten.delete(id);
    if (fate.kind === 'stale') {
      this.#log.warn({ jobId: id, claim }, 'a stale outcome was refused: the job has moved on');
    }
  }
}
