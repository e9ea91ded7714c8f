import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { OwnedJob } from '../store/workers/workers.ts';
import type { Execution } from './attempt/execution.ts';
import type { WorkLoop } from './claim/loop.ts';
import type { WorkQueue } from './claim/work-queue.ts';

/**
 * Compares what runs here with what this worker owns in the database, in both directions: cancels
 * are passed on, a job that is no longer ours is stopped, and a job that is ours but does not run
 * here (the answer to its claim was lost) is returned. The last must be seen twice in a row,
 * because the answer to a claim may still be in flight.
 */
export class Reconciler {
  readonly #queue: WorkQueue;
  readonly #clock: Clock;
  readonly #log: Log;
  /** By shard: claims in the last heartbeat that do not run here. */
  readonly #unknown = new Map<number, Set<string>>();

  constructor(queue: WorkQueue, clock: Clock, log: Log) {
    this.#queue = queue;
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * `sent` are the claims that ran here when the heartbeat was sent: the answer cannot include what
   * started since, also not a later claim of the same job.
   */
  reconcile(
    shard: number,
    owned: readonly OwnedJob[],
    sent: ReadonlySet<string>,
    loops: readonly WorkLoop[],
  ): void {
    const rows = new Map(owned.map((row) => [row.id, row]));
    const running = loops.flatMap((loop) => loop.running.all());
    for (const execution of running) {
      if (execution.shard !== shard || !sent.has(claimKey(execution.job))) continue;
      applyRow(execution, rows.get(execution.job.id));
    }
    const unwritten = loops.flatMap(({ outbox }) => outbox.unwritten(shard));
    const ids = new Set(running.map(({ job }) => job.id));
    const claims = new Set(unwritten.map(({ job }) => claimKey(job)));
    const unknown = new Set<string>();
    for (const row of owned) {
      const name = claimKey(row);
      if (ids.has(row.id) || claims.has(name)) continue;
      if (this.#unknown.get(shard)?.has(name)) void this.#returnJob(shard, row);
      else unknown.add(name);
    }
    this.#unknown.set(shard, unknown);
  }

  async #returnJob(shard: number, row: OwnedJob): Promise<void> {
    await this.#queue
      .returnJob(shard, row, this.#clock, this.#log)
      .catch((error: unknown) =>
        this.#log.warn(
          { jobId: row.id, attempt: row.attempts, err: error },
          'cannot return the job; the next heartbeat tries again',
        ),
      );
  }
}

export function claimKey({ id, claim }: { id: string; claim: number }): string {
  return `${id}:${claim}`;
}

/** Applies the row of a job that runs here; without a row the claim is lost. */
function applyRow(execution: Execution, row: OwnedJob | undefined): void {
  if (row?.claim !== execution.job.claim) {
    execution.fence();
  } else if (row.state === 'cancelling' && execution.state !== 'cancelling') {
    execution.state = 'cancelling';
    execution.askToStop('cancel');
  }
}
