import { NO_USAGE } from '../core/job/job.ts';
import { decide, DEFAULT_RULES } from '../core/job/lifecycle.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { fieldsOf } from '../signals/job-log.ts';
import type { OwnedJob } from '../store/workers/workers.ts';
import type { Execution } from './attempt/execution.ts';
import type { WorkLoop } from './claim/loop.ts';
import type { QueuePort } from './claim/port.ts';

/**
 * Compares what runs here with what this worker owns in the database, in both directions: cancels
 * are passed on, a job that is no longer ours is stopped, and a job that is ours but does not run
 * here (the answer to its claim was lost) is released. The last must be seen twice in a row,
 * because the answer to a claim may still be in flight.
 */
export class Reconciler {
  readonly #queue: QueuePort;
  readonly #clock: Clock;
  readonly #log: Log;
  /** By shard: claims in the last heartbeat that do not run here. */
  readonly #unknown = new Map<number, Set<string>>();

  constructor(queue: QueuePort, clock: Clock, log: Log) {
    this.#queue = queue;
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * `sent` is what ran here when the heartbeat was sent: the answer cannot include what started
   * since.
   */
  reconcile(
    shard: number,
    owned: readonly OwnedJob[],
    sent: ReadonlySet<string>,
    loops: readonly WorkLoop[],
  ): void {
    const rows = new Map(owned.map((row) => [row.id, row]));
    for (const execution of loops.flatMap((loop) => [...loop.running.values()])) {
      if (execution.shard !== shard || !sent.has(execution.job.id)) continue;
      heed(execution, rows.get(execution.job.id));
    }
    const unknown = new Set<string>();
    for (const row of owned) {
      if (loops.some(({ running, outbox }) => running.has(row.id) || outbox.has(row))) continue;
      const name = `${row.id}:${row.claim}`;
      if (this.#unknown.get(shard)?.has(name)) void this.#giveBack(shard, row);
      else unknown.add(name);
    }
    this.#unknown.set(shard, unknown);
  }

  async #giveBack(shard: number, row: OwnedJob): Promise<void> {
    const { id, claim, state: was, attempts: attempt } = row;
    const log = this.#log;
    let line: object = { jobId: id, attempt };
    try {
      const facts = await this.#queue.heldFacts(shard, id);
      if (facts) line = fieldsOf({ jobId: id, attempt, ...facts });
      log.warn({ ...line, claim }, 'a job of ours does not run here; releasing it');
      const outcome = { kind: 'unstarted' } as const;
      const transition = decide({ ...row, ...DEFAULT_RULES }, outcome, this.#clock.random());
      await this.#queue.settle(shard, [{ id, claim, was, transition, usage: NO_USAGE }]);
    } catch (error) {
      log.warn({ ...line, err: error }, 'cannot release the job; the next heartbeat tries again');
    }
  }
}

/** Applies the row of a job that runs here; without a row the claim is lost. */
function heed(execution: Execution, row: OwnedJob | undefined): void {
  if (row?.claim !== execution.job.claim) {
    execution.fence();
  } else if (row.state === 'cancelling' && execution.state !== 'cancelling') {
    execution.state = 'cancelling';
    execution.askToStop('cancel');
  }
}
