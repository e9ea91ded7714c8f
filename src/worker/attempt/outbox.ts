import { sleep } from '../../runtime/deadline.ts';
import type { Log } from '../../runtime/log.ts';
import { type AttemptSignals, lineFields } from './attempt-signals.ts';
import type { Ended, Execution } from './execution.ts';
import { ExecutionList } from './execution-list.ts';
import { type Finished, isPlainSettlement } from './outcome-writer.ts';
import type { OutcomeWriter, Written } from './outcome-writer.ts';

/**
 * `limited`: all outcomes of limited jobs; `plain`: other successes for the short statement; `others`:
 * the rest.
 */
type Waiting = Record<'plain' | 'others' | 'limited', Finished[]>;

function kindOf(item: Finished): keyof Waiting {
  if (item.execution.job.limited) return 'limited';
  return isPlainSettlement(item) ? 'plain' : 'others';
}

/** The most outcomes per statement in the final flush. */
const FLUSHED_MAX = 500;

/**
 * Outcomes that are not yet written. Each is kept until it is known to be written or refused: it
 * waits while the database is down, even when the worker loses its lease meanwhile, because the
 * claim decides whether it counts. An outcome that cannot be stored does not stop the others.
 */
export class Outbox {
  readonly #writer: OutcomeWriter;
  readonly #log: Log;
  readonly #signals: AttemptSignals | null;
  /** By shard. */
  readonly #waiting: Waiting[];
  /**
   * By shard, waiting or in flight: the next claim of the same job may arrive before this one is
   * written.
   */
  readonly #unwritten: ExecutionList[];
  #waits: { for: Set<Execution>; done: () => void }[] = [];

  constructor(
    shards: number,
    writer: OutcomeWriter,
    log: Log,
    signals: AttemptSignals | null = null,
  ) {
    this.#writer = writer;
    this.#log = log;
    this.#signals = signals;
    this.#waiting = Array.from({ length: shards }, () => ({ plain: [], others: [], limited: [] }));
    this.#unwritten = Array.from({ length: shards }, () => new ExecutionList());
  }

  add(execution: Execution, ended: Ended): void {
    this.#unwritten[execution.shard]?.add(execution);
    const item = { execution, ended };
    this.#waiting[execution.shard]?.[kindOf(item)].push(item);
  }

  /** How many wait to be written to a shard. */
  count(shard: number): number {
    return this.countPlain(shard) + this.others(shard).length + this.countLimited(shard);
  }

  /** How many of them are plain successes. */
  countPlain(shard: number): number {
    return this.#waiting[shard]?.plain.length ?? 0;
  }

  /** How many of them are of limited jobs. */
  countLimited(shard: number): number {
    return this.#waiting[shard]?.limited.length ?? 0;
  }

  /** Those that are neither. */
  others(shard: number): readonly Finished[] {
    return this.#waiting[shard]?.others ?? [];
  }

  /** Nothing waits and nothing is in flight. */
  get empty(): boolean {
    return this.#unwritten.every(({ size }) => size === 0);
  }

  /** The attempts of a shard whose outcomes are not yet written. */
  unwritten(shard: number): Execution[] {
    return this.#unwritten[shard]?.all() ?? [];
  }

  /** Resolves when all current outcomes of a shard are written or refused. */
  async written(shard: number): Promise<void> {
    const current = new Set(this.unwritten(shard));
    if (current.size === 0) return;
    await new Promise<void>((done) => this.#waits.push({ for: current, done }));
  }

  #forget(execution: Execution): void {
    this.#unwritten[execution.shard]?.delete(execution);
    if (this.#waits.length === 0) return;
    for (const wait of this.#waits) {
      if (wait.for.delete(execution) && wait.for.size === 0) wait.done();
    }
    this.#waits = this.#waits.filter((wait) => wait.for.size > 0);
  }

  /** Those of limited jobs come last. */
  take(shard: number, max: number): Finished[] {
    const unlimited = this.takeUnlimited(shard, max);
    return unlimited.length < max && this.countLimited(shard) > 0
      ? [...unlimited, ...this.takeLimited(shard, max - unlimited.length)]
      : unlimited;
  }

  /** The few others come first, so that plain ones never keep them waiting. */
  takeUnlimited(shard: number, max: number): Finished[] {
    const others = this.#waiting[shard]?.others.splice(0, max) ?? [];
    const plain = this.takePlain(shard, max - others.length);
    return others.length === 0 ? plain : [...others, ...plain];
  }

  takePlain(shard: number, max: number): Finished[] {
    return this.#waiting[shard]?.plain.splice(0, max) ?? [];
  }

  takeLimited(shard: number, max: number): Finished[] {
    return this.#waiting[shard]?.limited.splice(0, max) ?? [];
  }

  /** Writes a batch. What cannot be written now is put back. */
  async write(shard: number, batch: readonly Finished[]): Promise<void> {
    if (batch.length === 0) return;
    try {
      this.conclude(shard, batch, await this.#writer.write(shard, batch));
    } catch (error) {
      this.putBack(shard, batch);
      throw error;
    }
  }

  /** Writes the rest, for a worker that has stopped claiming. */
  async flush(): Promise<void> {
    const shards = [...this.#waiting.keys()];
    await Promise.all(shards.map(async (shard) => await this.#flushShard(shard)));
  }

  async #flushShard(shard: number): Promise<void> {
    const isDone = () => this.#unwritten[shard]?.size === 0;
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
    const kept = batch.filter(({ execution }) => this.#unwritten[shard]?.has(execution));
    for (const item of kept.reverse()) this.#waiting[shard]?.[kindOf(item)].unshift(item);
  }

  /** Handles the results of a batch; null: all of it is written. */
  conclude(
    shard: number,
    batch: readonly Finished[],
    results: ReadonlyMap<Finished, Written> | null,
  ): void {
    for (const item of batch) {
      const { execution, ended, decided } = item;
      const what = results === null ? 'written' : (results.get(item) ?? 'unknown');
      if (what === 'unknown') {
        this.putBack(shard, [item]);
      } else if (typeof what === 'object') {
        execution.state = what.owned;
        this.putBack(shard, [{ ...item, refused: true }]);
      } else {
        this.#forget(execution);
        if (what === 'written' && decided) this.#signals?.settled(execution, ended, decided);
        if (what === 'stale')
          this.#warn(execution, 'a stale outcome was refused: the job has moved on');
        if (what === 'gone')
          this.#warn(execution, 'an outcome came too late, unless it arrived before');
      }
    }
  }

  #warn(execution: Execution, message: string): void {
    this.#log.warn({ ...lineFields(execution), claim: execution.job.claim }, message);
  }
}
