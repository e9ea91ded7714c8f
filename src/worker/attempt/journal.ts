import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { Poller, shardName } from '../../runtime/poller.ts';
import type { Service } from '../../runtime/service.ts';
import { DatabaseUnavailable } from '../../store/connection/db.ts';
import { AttemptJournal, type Entry, type NewLine } from './attempt-journal.ts';
import { lineFields } from './attempt-signals.ts';
import type { Execution, ExecutionEvents } from './execution.ts';
import type { QueuePort } from '../claim/port.ts';

const EVERY_MS = 1_000;

/** An entry and its execution. */
interface Late {
  shard: number;
  entry: Entry;
  execution: Execution;
}

/**
 * Writes the lines, events and progress of running jobs to the database, once a second for all
 * together, or sooner when much has gathered. An attempt is closed before its outcome is written,
 * because afterwards the fence would refuse its last lines.
 */
class ShardJournal {
  readonly #queue: QueuePort;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #logMaxBytes: number;
  readonly #poller: Poller;
  readonly #open = new Map<Execution, AttemptJournal>();
  readonly #closing = new Map<Execution, () => void>();
  /** Taken but not yet written: the database was unavailable. */
  #late: Late[] = [];
  #allAtMs = 0;

  constructor(name: string, queue: QueuePort, clock: Clock, log: Log, logMaxBytes: number) {
    this.#queue = queue;
    this.#clock = clock;
    this.#log = log;
    this.#logMaxBytes = logMaxBytes;
    this.#poller = new Poller({ name, log, tick: async () => await this.#tick() });
  }

  async start(): Promise<void> {
    await this.#poller.start();
  }

  async stop(): Promise<void> {
    await this.#poller.stop();
  }

  onLine(execution: Execution, line: NewLine): void {
    const journal = this.#of(execution);
    journal.line(line, this.#nowMs);
    if (journal.due) this.#poller.wake();
  }

  onEvent(execution: Execution, type: 'custom' | 'hook', payloadJson: string): void {
    const journal = this.#of(execution);
    journal.event(type, payloadJson, this.#nowMs);
    if (journal.due) this.#poller.wake();
  }

  onProgress(execution: Execution, update: { fraction: number; message: string | null }): void {
    this.#of(execution).progress(update.fraction, update.message, this.#nowMs);
  }

  /** Null when nothing is left to write, so that a silent job waits for nothing. */
  close(execution: Execution): Promise<void> | null {
    if (!this.#open.has(execution)) return null;
    if (execution.lost) {
      this.#open.delete(execution);
      return null;
    }
    this.#poller.wake();
    return new Promise((resolve) => this.#closing.set(execution, resolve));
  }

  /** Some claims are lost: their entries are dropped. Attempts that ended before keep theirs. */
  abandon(): void {
    this.#late = this.#late.filter(({ execution }) => !execution.lost);
    for (const execution of this.#open.keys()) if (execution.lost) this.#open.delete(execution);
  }

  get #nowMs(): number {
    return this.#clock.now().getTime();
  }

  #of(execution: Execution): AttemptJournal {
    let journal = this.#open.get(execution);
    if (!journal) {
      journal = new AttemptJournal(execution.job, this.#logMaxBytes);
      this.#open.set(execution, journal);
    }
    return journal;
  }

  async #tick(): Promise<number> {
    // What could not be written goes first; until then nothing more is taken.
    if (this.#late.length > 0) await this.#write();
    const startMs = this.#clock.monotonicMs();
    const everything = startMs >= this.#allAtMs;
    if (everything) this.#allAtMs = startMs + EVERY_MS;
    for (const [execution, journal] of this.#open) {
      const due = everything || journal.due || this.#closing.has(execution);
      if (!due || journal.empty) continue;
      const entry = journal.take(this.#nowMs);
      this.#late.push({ shard: execution.shard, entry, execution });
    }
    const closing = [...this.#closing];
    await this.#write();
    for (const [execution, resolve] of closing) {
      this.#closing.delete(execution);
      this.#open.delete(execution);
      resolve();
    }
    return Math.max(0, this.#allAtMs - this.#clock.monotonicMs());
  }

  async #write(): Promise<void> {
    for (const shard of new Set(this.#late.map((one) => one.shard))) {
      const batch = this.#late.filter((one) => one.shard === shard && !one.execution.lost);
      await this.#writeAll(shard, batch);
      this.#late = this.#late.filter((one) => one.shard !== shard);
    }
  }

  /** An entry that cannot be stored stops neither the others nor its own outcome. */
  async #writeAll(shard: number, batch: readonly Late[]): Promise<void> {
    const entries = batch.map(({ entry }) => entry);
    try {
      await this.#queue.writeLogs(
        shard,
        entries.flatMap(({ chunks }) => chunks),
      );
      await this.#queue.writeEvents(
        shard,
        entries.flatMap(({ events }) => events),
      );
      await this.#queue.saveProgress(
        shard,
        entries.flatMap(({ progress }) => progress ?? []),
      );
    } catch (error) {
      if (error instanceof DatabaseUnavailable) throw error;
      if (batch.length > 1) {
        for (const one of batch) await this.#writeAll(shard, [one]);
        return;
      }
      for (const { execution } of batch) {
        const about = { ...lineFields(execution), err: error };
        this.#log.warn(about, 'cannot store the log or events of a job');
      }
    }
  }
}

/**
 * The journals of all shards. A shard that cannot be written delays the jobs of that shard only.
 */
export class Journal implements Service, ExecutionEvents {
  readonly name = 'journal';
  readonly #shards: ShardJournal[];

  constructor(queue: QueuePort, clock: Clock, log: Log, logMaxBytes: number) {
    this.#shards = Array.from({ length: queue.shards }, (_, shard) => {
      const name = shardName(this.name, shard, queue.shards);
      return new ShardJournal(name, queue, clock, log, logMaxBytes);
    });
  }

  async start(): Promise<void> {
    await Promise.all(this.#shards.map(async (journal) => await journal.start()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#shards.map(async (journal) => await journal.stop()));
  }

  onLine(execution: Execution, line: NewLine): void {
    this.#shards[execution.shard]?.onLine(execution, line);
  }

  onEvent(execution: Execution, type: 'custom' | 'hook', payloadJson: string): void {
    this.#shards[execution.shard]?.onEvent(execution, type, payloadJson);
  }

  onProgress(execution: Execution, update: { fraction: number; message: string | null }): void {
    this.#shards[execution.shard]?.onProgress(execution, update);
  }

  /** Null when nothing is left to write, so that a silent job waits for nothing. */
  close(execution: Execution): Promise<void> | null {
    return this.#shards[execution.shard]?.close(execution) ?? null;
  }

  abandon(shard: number): void {
    this.#shards[shard]?.abandon();
  }
}
