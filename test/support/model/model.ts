import { isTerminal, type JobState, type Usage } from '../../../src/core/job/job.ts';
import type { UniqueWhile } from '../../../src/core/job/unique.ts';

/**
 * The expected state of the store, as plain values. The model uses no SQL, no clock and not
 * `decide()`: it states the rules independently, so that neither the pure code nor the statements
 * check themselves. Jobs and workers are replaced and never changed in place; an object that a step
 * left the same must have unchanged rows.
 */

/** The limits of the definitions `keyed` and `rated`. */
export const KEY_LIMIT = 1;
export const CONCURRENCY_LIMIT = 2;
export const RATE_BURST = 3;

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
  readonly concurrencyKey: string | null;
  readonly unique: { key: string; while: UniqueWhile } | null;
  readonly state: JobState;
  readonly attempts: number;
  /** Null: its definition says so at the first claim. */
  readonly maxAttempts: number | null;
  /** It fails when no worker has its code; it wants that for as long as it lives. */
  readonly failsUnserved: boolean;
  readonly claim: number;
  readonly interruptions: number;
  /** Its position among all that wait in levels; null when it does not. */
  readonly position: number | null;
  /** Whether it holds the permit of its concurrency key. */
  readonly hasPermit: boolean;
  /** Its position among the blocked jobs of its key; null when it is not blocked. */
  readonly blocked: number | null;
  /** The step that queued it, when it was blocked then. */
  readonly queuedStep: number | null;
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
  /** The signal that it waits for. */
  readonly waitsFor: string | null;
  /** The jobs that it waits for, in order, and how each has ended as far as the resolver has seen. */
  readonly parents: readonly ModelParent[];
  /** The jobs that it has spawned, in order, and how each has ended as far as the resolver has seen. */
  readonly children: readonly ModelChild[];
  /** What it is beside a job, if it is a batch. */
  readonly batch?: ModelBatch;
  /** Others wait for it, so the resolver gets its end. */
  readonly watched: boolean;
  /** The payloads of its signals, as JSON. */
  readonly signals: Readonly<Record<string, string>>;
  /** The signals that it has waited for in vain. */
  readonly timeouts: readonly string[];
}

export interface ModelParent {
  readonly id: string;
  readonly onFailure: 'fail' | 'run' | 'cancel';
  readonly ended: JobState | null;
}

export interface ModelBatch {
  readonly onComplete: string | null;
  readonly onSuccess: string | null;
  readonly closed: boolean;
  /** It was cancelled while it waited, maybe in an earlier life. */
  readonly cancelled?: boolean;
}

export interface ModelChild {
  readonly id: string;
  readonly name: string;
  /** What a request for a job of a batch has to ask for again. */
  readonly asked?: string;
  readonly ended: JobState | null;
}

/** A hook that the end of a job must have made. */
export interface ModelHook {
  parent: string;
  hook: 'onSuccess' | 'onFail' | 'onEnd';
  status: JobState;
  attempt: number;
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
  /** Starts that the rate of `rated` has left. */
  tokens = RATE_BURST;
  readonly hooks: ModelHook[] = [];
  /** Ends that the resolver has not seen. */
  readonly ends = new Map<string, JobState>();
  /** Whether the end of a last child has moved its parent on. */
  joined = false;
  /** Jobs that got a permit in this step. */
  permitted: ModelJob[] = [];
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
    this.permitted = [];
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
      .filter((job) => job.position !== null && job.queue === queue && -job.priority === rank)
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
      this.level(queue, rank, taken)
        .slice(skipped)
        .filter((job) => !isRated(job)),
    );
    return heads.slice(0, limit).map(({ id }) => this.claim(id, instance));
  }

  /** The same with limiters: no more jobs of `rated` than its limit and its rate have room for. */
  takeLimited(
    instance: string,
    limit: number,
    levels: readonly Level[],
    taken: readonly string[],
  ): { picked: number; jobs: ModelJob[] } {
    if (!this.mayTake(instance)) return { picked: 0, jobs: [] };
    let room = Math.max(0, Math.min(CONCURRENCY_LIMIT - this.ratedInUse(), this.tokens));
    const heads = levels.flatMap(({ queue, rank, skipped }) => {
      const jobs = this.level(queue, rank, taken).slice(skipped);
      return jobs.filter((job, index) => !isRated(job) || index < room);
    });
    const picked = heads.slice(0, limit);
    const jobs = picked.filter((job) => !isRated(job) || room-- > 0);
    this.tokens -= jobs.filter(isRated).length;
    return { picked: picked.length, jobs: jobs.map(({ id }) => this.claim(id, instance)) };
  }

  /** How many jobs of `rated` count against its limit. */
  ratedInUse(): number {
    return [...this.jobs.values()].filter((job) => isOwned(job) && isRated(job)).length;
  }

  /**
   * Concurrency keys: a queued job without a permit is blocked; a job that neither runs nor waits in a
   * level returns its permit; a free permit goes to the blocked job with the highest priority, and of
   * those to the oldest, at the end of its level.
   */
  passPermits(): void {
    for (const job of this.jobs.values()) {
      if (job.concurrencyKey === null) continue;
      const { id, state, hasPermit, blocked, position } = job;
      if (hasPermit && state !== 'queued' && !isOwned(job)) this.change(id, { hasPermit: false });
      if (blocked !== null && state !== 'queued') this.change(id, { blocked: null });
      if (state === 'queued' && !hasPermit && position !== null) {
        this.change(id, { blocked: position, position: null });
      }
    }
    for (const jobs of Object.values(Object.groupBy(this.jobs.values(), keyOf))) {
      const free = KEY_LIMIT - (jobs ?? []).filter(({ hasPermit }) => hasPermit).length;
      const next = (jobs ?? [])
        .filter(({ blocked }) => blocked !== null)
        .sort((a, b) => b.priority - a.priority || (a.blocked ?? 0) - (b.blocked ?? 0));
      for (const { id, blocked } of next.slice(0, Math.max(0, free))) {
        const queuedStep = Math.floor(blocked ?? 0);
        this.change(id, { hasPermit: true, blocked: null, queuedStep, position: this.#step });
        this.permitted.push(this.job(id));
      }
    }
  }

  /**
   * Queues a suspended job whose signal has arrived, or whose children have ended. Its permit was
   * returned when it began to wait.
   */
  resume(id: string): boolean {
    const { state, waitsFor, signals, children } = this.job(id);
    if (state !== 'suspended' || waitsFor === null) return false;
    const over =
      waitsFor === CHILDREN
        ? children.every(({ ended }) => ended !== null)
        : signals[waitsFor] !== undefined;
    if (!over) return false;
    const position = this.nextPosition();
    this.change(id, { state: 'queued', waitsFor: null, runAt: null, hasPermit: false, position });
    return true;
  }

  /** The ends of watched jobs since `before`. */
  addEnds(before: ReadonlyMap<string, ModelJob>): void {
    for (const { id, state, watched } of this.jobs.values()) {
      const was = before.get(id)?.state;
      if (watched && isTerminal(state) && was && !isTerminal(was)) this.ends.set(id, state);
    }
  }

  /** Jobs whose parents have ended move on, and so do those after them. Returns whether any did. */
  resolve(): boolean {
    let moved = false;
    while (this.ends.size > 0) {
      const ends = new Map(this.ends);
      this.ends.clear();
      for (const job of [...this.jobs.values()].sort((a, b) => (a.id < b.id ? -1 : 1))) {
        const isNews = ({ id, ended }: Watched) => ended === null && ends.has(id);
        if (![...job.parents, ...job.children].some(isNews)) continue;
        const noted = <Of extends Watched>(one: Of): Of =>
          isNews(one) ? { ...one, ended: ends.get(one.id) ?? null } : one;
        this.change(job.id, { parents: job.parents.map(noted), children: job.children.map(noted) });
        if (job.waitsFor === PARENTS && this.#moveOn(job.id)) moved = true;
        if (job.waitsFor === CHILDREN && this.resume(job.id)) this.joined = moved = true;
        if (job.waitsFor === BATCH_CANCELLED && this.endCancelledBatch(job.id)) moved = true;
      }
    }
    return moved;
  }

  /** Ends a cancelled batch whose jobs have all ended. */
  endCancelledBatch(id: string): boolean {
    const { children, watched } = this.job(id);
    if (children.some(({ ended }) => ended === null)) return false;
    const counted = (end: string) => children.filter(({ ended }) => ended === end).length;
    const [succeeded, failed] = [counted('succeeded'), counted('failed')];
    const result = { total: children.length, succeeded, failed, cancelled: counted('cancelled') };
    this.change(id, { state: 'cancelled', waitsFor: null, cancelRequested: true, result });
    if (watched) this.ends.set(id, 'cancelled');
    return true;
  }

  #moveOn(id: string): boolean {
    const { parents, watched } = this.job(id);
    const bad = parents.find(isUnsuccessful);
    if (!bad && parents.some(({ ended }) => ended === null)) return false;
    if (!bad) {
      this.change(id, { state: 'queued', waitsFor: null, position: this.nextPosition() });
      return true;
    }
    const outcome = bad.ended === 'failed' ? 'failed' : 'was cancelled';
    const error = { code: 'PARENT_FAILED', message: `its parent ${bad.id} ${outcome}` };
    const cancelled = bad.onFailure === 'cancel';
    const state = cancelled ? 'cancelled' : 'failed';
    this.change(id, {
      state,
      waitsFor: null,
      ...(cancelled ? { cancelRequested: true } : { error }),
    });
    if (watched) this.ends.set(id, state);
    return true;
  }

  /** The hooks of the jobs of `keyed` that have ended since `before`. */
  addHooks(before: ReadonlyMap<string, ModelJob>): void {
    for (const { id, definitionKey, state, attempts } of this.jobs.values()) {
      const was = before.get(id)?.state;
      if (definitionKey !== 'keyed' || !isTerminal(state) || (was && isTerminal(was))) continue;
      const about = { parent: id, status: state, attempt: attempts };
      if (state === 'succeeded') this.hooks.push({ ...about, hook: 'onSuccess' });
      if (state === 'failed') this.hooks.push({ ...about, hook: 'onFail' });
      this.hooks.push({ ...about, hook: 'onEnd' });
    }
  }

  /** The number of attempts of a job, as far as known. */
  attemptsOf({ maxAttempts, definitionKey }: ModelJob): number {
    return maxAttempts ?? this.published.get(definitionKey) ?? 3;
  }

  claim(id: string, worker: string): ModelJob {
    const { attempts, claim, queuedStep, returnedBy = 0 } = this.job(id);
    const heldPosition = Math.max(queuedStep ?? queuedBy(this.job(id)), returnedBy);
    const owner = { state: 'running', worker, position: null, heldPosition, runAt: null } as const;
    const maxAttempts = this.attemptsOf(this.job(id));
    this.change(id, { ...owner, attempts: attempts + 1, maxAttempts, claim: claim + 1 });
    const job = this.job(id);
    this.claims.push({ ...job, maxAttempts });
    return job;
  }
}

/** Without whose success the job does not run. */
export function isUnsuccessful({ ended, onFailure }: ModelParent): boolean {
  return ended !== null && ended !== 'succeeded' && onFailure !== 'run';
}

/** What a job waits for that waits for others, as the database has it. */
export const PARENTS = ':parents';
export const CHILDREN = ':children';
/** That of a batch which accepts jobs. */
export const BATCH_OPEN = ':batch';
/** That of a cancelled batch with open jobs. */
export const BATCH_CANCELLED = ':children:cancelled';

type Watched = Pick<ModelParent, 'id' | 'ended'>;

export function isOwned(job: ModelJob): boolean {
  return job.state === 'running' || job.state === 'cancelling';
}

/** Whether its definition has a limit and a rate. */
export function isRated({ definitionKey }: ModelJob): boolean {
  return definitionKey === 'rated';
}

/** Whether it holds permits while it runs. */
export function isLimited(job: ModelJob): boolean {
  return job.hasPermit || isRated(job);
}

function keyOf({ concurrencyKey }: ModelJob): string {
  return concurrencyKey ?? '';
}

/** Whether it was lost or interrupted and returned to its position. */
export function cameBack({ position }: ModelJob): boolean {
  return Number.isInteger(position);
}

/** The step whose time its position has. */
function queuedBy({ position }: ModelJob): number {
  return Math.floor(position ?? 0);
}
