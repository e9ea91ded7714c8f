import type { Log } from '../runtime/log.ts';
import { Poller } from '../runtime/poller.ts';
import type { Service } from '../runtime/service.ts';
import type { ProgressUpdate } from '../store/progress.ts';
import type { Execution } from './execution.ts';
import type { QueuePort } from './port.ts';

const EVERY_MS = 1_000;

/** The latest progress of each job, written once a second at most however often a job reports it. */
export class ProgressBatch implements Service {
  readonly name = 'progress';
  readonly #queue: QueuePort;
  readonly #poller: Poller;
  readonly #latest = new Map<string, ProgressUpdate & { shard: number }>();

  constructor(queue: QueuePort, log: Log) {
    this.#queue = queue;
    this.#poller = new Poller({ name: this.name, log, tick: async () => await this.#write() });
  }

  async start(): Promise<void> {
    await this.#poller.start();
  }

  async stop(): Promise<void> {
    await this.#poller.stop();
  }

  note = (
    { shard, job }: Execution,
    update: { fraction: number; message: string | null },
  ): void => {
    const { fraction, message } = update;
    this.#latest.set(job.id, { shard, id: job.id, claim: job.claim, fraction, message });
  };

  async #write(): Promise<number> {
    const updates = [...this.#latest.values()];
    this.#latest.clear();
    for (const shard of new Set(updates.map((update) => update.shard))) {
      await this.#queue.saveProgress(
        shard,
        updates.filter((update) => update.shard === shard),
      );
    }
    return EVERY_MS;
  }
}
