import type { JobState, Usage } from '../../../src/core/job/job.ts';

/**
 * The expected state of the store, as plain values. The model uses no SQL, no clock and not
 * `decide()`: it states the rules independently, so that neither the pure code nor the statements
 * check themselves. Jobs and workers are replaced and never changed in place; an object that a step
 * left the same must have unchanged rows.
 */

export interface ModelError {
  code: string;
  message: string;
}

/** An attempt that did not end well, or an end without one, as the store keeps it. */
export interface Tried {
  claim: number;
  number: number;
  worker: string | null;
  usage: Usage;
  error: ModelError | null;
}

export interface ModelJob {
  readonly id: string;
  readonly tenant: string;
  readonly definitionKey: string;
  readonly queue: number;
  readonly priority: number;
  readonly params: unknown;
  readonly tags: readonly string[];
  readonly idempotencyKey: string | null;
  readonly state: JobState;
  readonly attempts: number;
  /** Null: its definition says so at the first claim. */
  readonly maxAttempts: number | null;
  /** It fails when no worker has its code; it wants that for as long as it lives. */
  readonly failsUnhandled: boolean;
  readonly claim: number;
  readonly interruptions: number;
  /** Its position among all that wait in levels; null when it does not. */
  readonly position: number | null;
  /** The last step that queued it, when it did not go to the end of its level. */
  readonly returnedBy?: number;
  /** The step that had queued it when it was claimed: where it goes back to. */
  readonly heldPosition?: number;
  /** How long it waits, counted from its last attempt or its creation; null when only due is known. */
  readonly runAt: { waitMs: number | null; due: boolean } | null;
  /** The owner, or the worker that ended it. */
  readonly worker: string | null;
  readonly cancelRequested: boolean;
  readonly progress: { fraction: number; message: string | null } | null;
  readonly result: unknown;
  readonly error: ModelError | null;
  /** What its last attempt used, once it has ended. */
  readonly usage: Usage;
  readonly tried: readonly Tried[];
}

/** A claim as its worker remembers it, however long ago it was made. */
export interface Claimed {
  id: string;
  claim: number;
  attempts: number;
  maxAttempts: number;
  interruptions: number;
}

export interface ModelWorker {
  readonly instance: string;
  readonly leaseOver: boolean;
  readonly draining: boolean;
  readonly dead: boolean;
  readonly longDead: boolean;
}

export interface Level {
  queue: number;
  rank: number;
  /** How many jobs at the head of the level the claim's floor leaves out. */
  skipped: number;
}

export class Model {
  readonly jobs = new Map<string, ModelJob>();
  readonly workers = new Map<string, ModelWorker>();
  /** Every claim ever made, the oldest first. */
  readonly claims: Claimed[] = [];
  /** Which job holds an idempotency key, and what its params mean. */
  readonly keys = new Map<string, { id: string; meaning: string }>();
  /** By key: how many attempts the definition gives that was published last. */
  readonly published = new Map<string, number>();
  /** The positions in PostgreSQL, as last read: only these order what one statement has queued. */
  seqs: ReadonlyMap<string, number> = new Map();
  #step = 0;
  #places = 0;

  job(id: string): ModelJob {
    const found = this.jobs.get(id);
    if (!found) throw new Error(`the model has no job ${id}`);
    return found;
  }

  change(id: string, changes: Partial<ModelJob>): void {
    this.jobs.set(id, { ...this.job(id), ...changes });
  }

  changeWorker(instance: string, changes: Partial<ModelWorker>): void {
    const found = this.workers.get(instance);
    if (found) this.workers.set(instance, { ...found, ...changes });
  }

  /** Everything that one step queues has one time, and consecutive positions. */
  beginStep(): void {
    this.#step += 1;
    this.#places = 0;
  }

  get currentStep(): number {
    return this.#step;
  }

  nextPosition(): number {
    this.#places += 1;
    return this.#step + this.#places / 1_000_000;
  }

  isAlive(instance: string): boolean {
    return this.workers.get(instance)?.dead === false;
  }

  /** Whether it may be given jobs. */
  mayTake(instance: string): boolean {
    return this.isAlive(instance) && this.workers.get(instance)?.draining === false;
  }

  /** Whether some claim owns the job now. */
  isOwned({ id }: { id: string }): boolean {
    const job = this.jobs.get(id);
    return job !== undefined && isOwned(job);
  }

  /** Whether this claim is the one that owns the job now. */
  owns({ id, claim }: { id: string; claim: number }): boolean {
    const job = this.jobs.get(id);
    return job !== undefined && job.claim === claim && isOwned(job);
  }

  ownedBy(instance: string): ModelJob[] {
    return [...this.jobs.values()].filter((job) => isOwned(job) && job.worker === instance);
  }

  /**
   * The jobs of a level, the next one first. Returned jobs stand among those of their own step in
   * any order; of jobs with the same position, those that were `taken` went first.
   */
  level(queue: number, rank: number, taken: readonly string[] = []): ModelJob[] {
    const turn = ({ id }: ModelJob) => (taken.includes(id) ? taken.indexOf(id) : taken.length);
    const seq = ({ id }: ModelJob) => this.seqs.get(id) ?? 0;
    return [...this.jobs.values()]
      .filter((job) => job.state === 'queued' && job.queue === queue && -job.priority === rank)
      .sort((a, b) => queuedBy(a) - queuedBy(b) || seq(a) - seq(b) || turn(a) - turn(b));
  }

  /** Level by level and in their order, as many as asked for; nothing for the dead and the leaving. */
  take(
    instance: string,
    limit: number,
    levels: readonly Level[],
    taken: readonly string[],
  ): ModelJob[] {
    if (!this.mayTake(instance)) return [];
    const heads = levels.flatMap(({ queue, rank, skipped }) =>
      this.level(queue, rank, taken).slice(skipped),
    );
    return heads.slice(0, limit).map(({ id }) => this.claim(id, instance));
  }

  /** The number of attempts of a job, as far as known. */
  attemptsOf({ maxAttempts, definitionKey }: ModelJob): number {
    return maxAttempts ?? this.published.get(definitionKey) ?? 3;
  }

  claim(id: string, worker: string): ModelJob {
    const { attempts, claim, returnedBy = 0 } = this.job(id);
    const heldPosition = Math.max(queuedBy(this.job(id)), returnedBy);
    const owner = { state: 'running', worker, position: null, heldPosition, runAt: null } as const;
    const maxAttempts = this.attemptsOf(this.job(id));
    this.change(id, { ...owner, attempts: attempts + 1, maxAttempts, claim: claim + 1 });
    const job = this.job(id);
    this.claims.push({ ...job, maxAttempts });
    return job;
  }
}

export function isOwned(job: ModelJob): boolean {
  return job.state === 'running' || job.state === 'cancelling';
}

/** Whether it was lost or interrupted and returned to its position. */
export function cameBack({ position }: ModelJob): boolean {
  return Number.isInteger(position);
}

/** The step whose time its position has. */
function queuedBy({ position }: ModelJob): number {
  return Math.floor(position ?? 0);
}
