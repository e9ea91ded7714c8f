import { NO_USAGE } from '../../core/job/job.ts';
import { decide, DEFAULT_RULES } from '../../core/job/lifecycle.ts';
import { fieldsOf } from '../../signals/job-log.ts';
import type { LevelHint } from '../../store/connection/wake.ts';
import { StoreOutcomes } from '../attempt/outcome-writer.ts';
import { SecretCache } from '../attempt/secrets.ts';
import { Levels } from './levels.ts';
import type { WorkerStore } from './port.ts';
import { runRound } from './round.ts';
import { Timings } from './timings.ts';
import type { Round, ShardQueue, ShardQueueOptions, WorkQueue } from './work-queue.ts';

/** The queue of a worker with a database connection. */
export function directQueue(store: WorkerStore): WorkQueue {
  const secrets = new SecretCache(store);
  return {
    ...store,
    resultMaxBytes: store.large?.maxBytes === null ? undefined : store.large?.limit('result'),
    secretsOf: (execution) => secrets.of(execution),
    useLease: () => undefined,
    outcomes: (clock, log) => new StoreOutcomes(store, clock, log),
    shardQueue: (shard, options) => new DirectShard(shard, store, options),
    returnJob: async (shard, { id, claim, state: was, ...row }, clock, log) => {
      const facts = await store.runningFacts(shard, id);
      const line = { jobId: id, attempt: row.attempts };
      log.warn(
        { ...(facts ? fieldsOf({ ...line, ...facts }) : line), claim },
        'a job of ours does not run here; returning it',
      );
      const outcome = { kind: 'unstarted' } as const;
      const transition = decide({ state: was, ...row, ...DEFAULT_RULES }, outcome, clock.random());
      await store.settle(shard, [{ id, claim, was, transition, usage: NO_USAGE }]);
    },
  };
}

/** One shard of the database. */
class DirectShard implements ShardQueue {
  readonly shard: number;
  readonly wait = null;
  readonly refills = true;
  readonly #levels: Levels;
  readonly #timings: Timings;
  readonly #outcomes: StoreOutcomes;

  constructor(shard: number, store: WorkerStore, options: ShardQueueOptions) {
    const { definitions, clock, log, pollMs, ageingMs, quietMs } = options;
    this.shard = shard;
    this.#levels = new Levels(shard, store, definitions, clock, pollMs, ageingMs, quietMs);
    this.#timings = new Timings(clock, async (sums) => await store.writeTimings(shard, sums));
    this.#outcomes = new StoreOutcomes(store, clock, log);
  }

  get hasWork(): boolean {
    return this.#levels.hasWork;
  }

  get expectsFew(): boolean {
    return this.#levels.expectsFew;
  }

  get dueInMs(): number {
    return Math.min(this.#levels.opensInMs, this.#timings.dueInMs);
  }

  hint(hint: LevelHint): boolean {
    return this.#levels.hint(hint);
  }

  pollSoon(): void {
    this.#levels.pollSoon();
  }

  async refresh(): Promise<void> {
    await this.#levels.pollIfDue();
    if (this.#timings.dueInMs === 0) void this.#timings.write();
  }

  readonly round = async (round: Round): Promise<number> => {
    const parts = { levels: this.#levels, timings: this.#timings, outcomes: this.#outcomes };
    return await runRound({ ...round, ...parts });
  };

  async close(): Promise<void> {
    await this.#timings.write();
  }
}
