import { hasSuccessHooks } from '../../core/definition/hooks.ts';
import { failureOf } from '../../core/failure/failure.ts';
import type { OwnedState } from '../../core/job/job.ts';
import { decide, type Transition } from '../../core/job/lifecycle.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { inHalves } from '../../store/connection/in-halves.ts';
import type { Settlement } from '../../store/claim/settle.ts';
import type { Vault } from '../../store/connection/vault.ts';
import type { WorkerStore } from '../claim/port.ts';
import { lineFields } from './attempt-signals.ts';
import type { Ended, Execution } from './execution.ts';

/** An ended attempt whose outcome is not yet written. */
export interface Finished {
  execution: Execution;
  ended: Ended;
  /**
   * The plain statement refused it although the claim still owns the job, so it needs the general
   * one.
   */
  refused?: boolean;
  /** The last decision about it. */
  decided?: Pick<Transition, 'to' | 'error'>;
}

/**
 * What became of an outcome. `owned`: the claim still owns the job, in this state; decide again.
 * `stale`: the claim is lost, and the outcome does not count. `gone`: the worker id is no longer
 * valid, so the claim has ended: with this outcome, if an earlier try wrote it. `unstorable`: it
 * cannot be stored. `unknown`: write it again, which shows it.
 */
export type Written =
  'written' | 'stale' | 'gone' | 'unstorable' | 'unknown' | { owned: OwnedState };

/** Writes outcomes. Throws when the queue cannot be reached; then some of them may be written. */
export interface OutcomeWriter {
  write(shard: number, batch: readonly Finished[]): Promise<Map<Finished, Written>>;
}

type Statements = Pick<WorkerStore, 'vault' | 'settle' | 'settlementStatusOf'>;

/** Decides what follows from each outcome, and writes it to the database. */
export class StoreOutcomes implements OutcomeWriter {
  readonly #store: Statements;
  readonly #clock: Clock;
  readonly #log: Log;

  constructor(store: Statements, clock: Clock, log: Log) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
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
      const transition = withSealedResult(this.#store.vault, tenant, decided);
      item.decided = decided;
      return { id: job.id, claim: job.claim, was: state, transition, usage: item.ended.usage };
    });
  }

  async write(shard: number, batch: readonly Finished[]): Promise<Map<Finished, Written>> {
    const written = new Map<Finished, Written>();
    const part = async (items: readonly Finished[]) => {
      const settled = await this.#store.settle(shard, this.settlements(items));
      const ids = new Set(settled.map(({ id }) => id));
      for (const [item, what] of await this.results(shard, items, ids)) written.set(item, what);
    };
    const refused = async (item: Finished, error: unknown) => {
      written.set(item, await this.#refused(shard, item, error));
    };
    await inHalves(batch, part, refused);
    return written;
  }

  /** The results of a batch; `settled` are the claims that passed the fence. */
  async results(
    shard: number,
    batch: readonly Finished[],
    settled: ReadonlySet<string>,
  ): Promise<Map<Finished, Written>> {
    const results = new Map<Finished, Written>();
    for (const item of batch) {
      const what = settled.has(item.execution.job.id)
        ? 'written'
        : await this.#explain(shard, item).catch(() => 'unknown' as const);
      results.set(item, what);
    }
    return results;
  }

  /**
   * It was not written: a cancel came first, it needs the general statement, it was written before, or
   * the claim is lost.
   */
  async #explain(shard: number, { execution }: Finished): Promise<Written> {
    const { id, claim } = execution.job;
    const status = await this.#store.settlementStatusOf(shard, id, claim);
    if (status.kind === 'owned') return { owned: status.state };
    return status.kind === 'stale' ? 'stale' : 'written';
  }

  /** It cannot be stored as it is. If the result is the cause, the job fails. */
  async #refused(shard: number, item: Finished, error: unknown): Promise<Written> {
    if (item.ended.outcome.kind === 'success') {
      const reason = error instanceof Error ? error.message : String(error);
      const problem = failureOf('RESULT_INVALID', `the result cannot be stored: ${reason}`);
      const outcome = { kind: 'failure', error: problem, retryAfterMs: null } as const;
      item.ended = { ...item.ended, outcome };
      return (await this.write(shard, [item])).get(item) ?? 'unknown';
    }
    this.#log.error({ ...lineFields(item.execution), err: error }, 'cannot store an outcome');
    return 'unstorable';
  }
}

/**
 * A success without hooks, permits, a cancel request, or others that wait for it: the common case,
 * with a fast statement.
 */
export function isPlainSettlement({
  execution: { state, definition, job },
  ended,
  refused,
}: Finished): boolean {
  const succeeded = state === 'running' && ended.outcome.kind === 'success';
  return succeeded && !hasSuccessHooks(definition) && !job.limited && !job.watched && !refused;
}

function withSealedResult(vault: Vault, tenant: string, transition: Transition): Transition {
  const { resultJson } = transition;
  if (vault.keyId === null || resultJson === null) return transition;
  return { ...transition, resultJson: vault.seal(tenant, resultJson) };
}
