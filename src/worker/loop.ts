import type { DefinitionInfo } from '../core/definition.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { Poller } from '../runtime/poller.ts';
import type { Service } from '../runtime/service.ts';
import type { LineHint } from '../store/wake.ts';
import { Execution } from './execution.ts';
import { Lines } from './lines.ts';
import type { QueuePort } from './port.ts';
import type { ProgressBatch } from './progress-batch.ts';
import type { RunnerPool } from './runner-pool.ts';
import type { SettleBatch } from './settle-batch.ts';

export interface ClaimLoopOptions {
  queue: QueuePort;
  runners: RunnerPool;
  settling: SettleBatch;
  progress: ProgressBatch;
  definitions: readonly DefinitionInfo[];
  /** The current identity of this worker; null while it has no valid lease. */
  instance(): string | null;
  slots: number;
  pollMs: number;
  cancelGraceMs: number;
  clock: Clock;
  log: Log;
}

/**
 * The heart of a worker: fill the free slots with claimed jobs, run each on a runner, hand its
 * outcome to the settle batch. It sleeps until a hint, a freed slot or the poll wakes it, and claims
 * only what it can start at once, so that no job waits in a worker while another one is idle.
 */
export class ClaimLoop implements Service {
  readonly name = 'claim loop';
  /** What runs here right now, by job id. */
  readonly running = new Map<string, Execution>();
  readonly #options: ClaimLoopOptions;
  readonly #lines: Lines[];
  readonly #poller: Poller;
  readonly #ends = new Set<Promise<void>>();
  #turn = 0;

  constructor(options: ClaimLoopOptions) {
    const { queue, definitions, clock, pollMs, log } = options;
    this.#options = options;
    this.#lines = Array.from(
      { length: queue.shards },
      (_, shard) => new Lines(shard, queue, definitions, clock, pollMs),
    );
    this.#poller = new Poller({ name: this.name, log, tick: async () => await this.#tick() });
  }

  async start(): Promise<void> {
    await this.#poller.start();
  }

  /** Stops claiming. What runs goes on; see `drain`. */
  async stop(): Promise<void> {
    await this.#poller.stop();
  }

  /** Some lines got work, as far as a hint can be believed. */
  hint(hints: readonly LineHint[]): void {
    for (const hint of hints) this.#lines[hint.shard]?.hint(hint);
    this.#poller.wake();
  }

  /** Hints may have been missed: look at the queue itself. */
  lookSoon(): void {
    for (const lines of this.#lines) lines.lookSoon();
    this.#poller.wake();
  }

  /** Resolves when nothing runs here any more and every outcome was handed on. */
  async drained(): Promise<void> {
    while (this.#ends.size > 0) await Promise.all(this.#ends);
  }

  async #tick(): Promise<number> {
    const { slots, pollMs, instance } = this.#options;
    const identity = instance();
    if (identity === null) return pollMs;
    let more = false;
    // Shards take turns at being asked first.
    this.#turn += 1;
    for (let step = 0; step < this.#lines.length; step += 1) {
      const lines = this.#lines[(this.#turn + step) % this.#lines.length];
      const free = slots - this.running.size;
      if (!lines || free <= 0) break;
      await lines.lookIfDue();
      for (const job of await lines.claim(free, identity)) {
        const definition = lines.definitionOf(job.lane);
        if (!definition) throw new Error(`claimed ${job.id} from a lane that is not served`);
        this.#begin(new Execution(lines.shard, job, definition, this.#options.cancelGraceMs));
      }
      more ||= lines.hasWork;
    }
    return more && this.running.size < slots ? 0 : pollMs;
  }

  #begin(execution: Execution): void {
    const { id, claim, attempts } = execution.job;
    const { log, clock } = this.#options;
    this.running.set(id, execution);
    const startMs = clock.monotonicMs();
    const about = { jobId: id, claim, attempt: attempts, definition: execution.definition.key };
    log.debug(about, 'job.claimed');
    const end = this.#execute(execution).then(
      (how) => {
        log.debug({ ...about, how, durationMs: clock.monotonicMs() - startMs }, 'job.ended');
      },
      (error: unknown) => log.error({ ...about, err: error }, 'an execution broke'),
    );
    this.#ends.add(end);
    void end.finally(() => this.#ends.delete(end));
  }

  /** Runs one job to its end. The slot is free as soon as the process is, before the write. */
  async #execute(execution: Execution): Promise<string> {
    const { runners, settling, progress, log } = this.#options;
    const { id } = execution.job;
    let ended;
    try {
      const runner = await runners.acquire();
      try {
        ended = await execution.run(runner, {
          onProgress: (update) => progress.note(execution, update),
          onOutput: (stream, line) => log.info({ jobId: id, stream }, line),
        });
      } finally {
        runners.release(runner);
      }
    } catch (error) {
      // No process could be started: that is the machine's failure, and costs the job no attempt.
      log.warn({ jobId: id, err: error }, 'no runner for a claimed job; it is given back');
      ended = settling.interrupted('no process could be started for it');
    }
    progress.drop(id);
    if (!execution.lost) settling.add(execution, ended);
    this.running.delete(id);
    this.#poller.wake();
    return execution.lost ? 'lost' : ended.outcome.kind;
  }
}
