import { STREAM_CHUNK_MS, STREAM_MAX_BYTES } from '../../core/logs/stream.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { Poller, shardName } from '../../runtime/poller.ts';
import type { Service } from '../../runtime/service.ts';
import type { StreamChunk } from '../../store/attempt/stream-chunks.ts';
import { DatabaseUnavailable } from '../../store/connection/db.ts';
import {
  AttemptJournal,
  type Entry,
  type JournalLimits,
  type NewLine,
  type StepState,
} from './attempt-journal.ts';
import { AttemptSignals, lineFields } from './attempt-signals.ts';
import type { Execution, ExecutionEvents } from './execution.ts';
import type { WorkQueue } from '../claim/work-queue.ts';

const EVERY_MS = 1_000;

/** An entry and its execution. */
interface Late {
  shard: number;
  entry: Entry;
  streamed: StreamChunk[];
  execution: Execution;
}

const NOTHING: Entry = { chunks: [], events: [], progress: null };

/**
 * Writes the lines, events and progress of running jobs to the database, once a second for all
 * together, or sooner when much has gathered. An attempt is closed before its outcome is written,
 * because afterwards the fence would refuse its last lines.
 */
class ShardJournal {
  readonly #queue: WorkQueue;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #limits: JournalLimits;
  readonly #poller: Poller;
  readonly #open = new Map<Execution, AttemptJournal>();
  readonly #closing = new Map<Execution, () => void>();
  /** Taken for the current write; they stay here if it fails. */
  #late: Late[] = [];
  #allAtMs = 0;
  /** When text that was streamed is to be written. */
  #streamsAtMs = Infinity;

  constructor(name: string, queue: WorkQueue, clock: Clock, log: Log, limits: JournalLimits) {
    this.#queue = queue;
    this.#clock = clock;
    this.#log = log;
    this.#limits = limits;
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

  onStream(execution: Execution, text: string): void {
    const journal = this.#of(execution);
    journal.stream(text, this.#nowMs);
    if (journal.streamDue) this.#streamsAtMs = 0;
    else if (this.#streamsAtMs < Infinity) return;
    else this.#streamsAtMs = this.#clock.monotonicMs() + STREAM_CHUNK_MS;
    this.#poller.wake();
  }

  onStep(execution: Execution, name: string, state: StepState): void {
    this.#of(execution).step(name, state, this.#nowMs);
  }

  onProgress(execution: Execution, update: { fraction: number; message: string | null }): void {
    this.#of(execution).progress(update.fraction, update.message, this.#nowMs);
  }

  /** Null when nothing is left to write, so that a silent job waits for nothing. */
  close(execution: Execution): Promise<void> | null {
    const journal = this.#open.get(execution);
    if (!journal) return null;
    if (execution.lost || journal.unused) {
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
      journal = new AttemptJournal(execution.job, this.#limits);
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
    const streams = startMs >= this.#streamsAtMs;
    if (streams) this.#streamsAtMs = Infinity;
    for (const [execution, journal] of this.#open) {
      const closing = this.#closing.has(execution);
      const due = everything || journal.due || closing;
      const isEmpty = !due || journal.isEmpty(this.#nowMs);
      const entry = isEmpty ? NOTHING : journal.take(this.#nowMs);
      const streamed =
        (streams || closing) && journal.streams ? this.#streamed(execution, journal) : [];
      if (entry === NOTHING && streamed.length === 0) continue;
      this.#late.push({ shard: execution.shard, entry, streamed, execution });
    }
    const closing = [...this.#closing];
    await this.#write();
    for (const [execution, resolve] of closing) {
      this.#closing.delete(execution);
      this.#open.delete(execution);
      resolve();
    }
    return Math.max(0, Math.min(this.#allAtMs, this.#streamsAtMs) - this.#clock.monotonicMs());
  }

  /** Masked, and encrypted as results are. */
  #streamed(execution: Execution, journal: AttemptJournal): StreamChunk[] {
    const { vault } = this.#queue;
    return journal.takeStream((text) =>
      vault.sealText(execution.tenant, execution.masked(text), 'value'),
    );
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
      const streamed = batch.flatMap((one) => one.streamed);
      if (streamed.length > 0) await this.#queue.writeStreams(shard, streamed);
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
  /** Undefined for the default, which runners know. */
  readonly streamMaxBytes: number | undefined;
  readonly #shards: ShardJournal[];
  readonly #signals: AttemptSignals;

  constructor(
    queue: WorkQueue,
    clock: Clock,
    log: Log,
    { logJobs, ...limits }: JournalLimits & { logJobs?: string | undefined },
  ) {
    const { streamMaxBytes } = limits;
    this.streamMaxBytes = streamMaxBytes === STREAM_MAX_BYTES ? undefined : streamMaxBytes;
    this.#signals = new AttemptSignals(clock, log, logJobs);
    this.#shards = Array.from({ length: queue.shards }, (_, shard) => {
      const name = shardName(this.name, shard, queue.shards);
      return new ShardJournal(name, queue, clock, log, limits);
    });
  }

  async start(): Promise<void> {
    await Promise.all(this.#shards.map(async (journal) => await journal.start()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#shards.map(async (journal) => await journal.stop()));
  }

  onLine(execution: Execution, line: NewLine): void {
    this.#signals.output(execution, line);
    this.#shards[execution.shard]?.onLine(execution, line);
  }

  onEvent(execution: Execution, type: 'custom' | 'hook', payloadJson: string): void {
    this.#shards[execution.shard]?.onEvent(execution, type, payloadJson);
  }

  onStream(execution: Execution, text: string): void {
    this.#shards[execution.shard]?.onStream(execution, text);
  }

  onStep(execution: Execution, name: string, state: StepState): void {
    this.#shards[execution.shard]?.onStep(execution, name, state);
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
