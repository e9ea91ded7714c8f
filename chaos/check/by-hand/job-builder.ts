import type { JobState } from '../../../src/core/job/job.ts';
import type { Effect, FinalJob, Place, RowEvent, WantedLimit } from '../../history/history.ts';
import type { HistoryBuilder } from './history-builder.ts';

export interface JobOptions {
  does?: string;
  groupSize?: number;
  limits?: WantedLimit[];
  stallTimeoutMs?: number;
  delayMs?: number;
  key?: string | null;
  /** Those of another job, for a request that was sent again. */
  paramsSha?: string;
  maxAttempts?: number;
  answer?: 'ok' | 'unknown' | 'fail';
  /** False: asked for, and not stored. */
  stored?: boolean;
  /** Of the deployed definition, in the queue of this version. */
  version?: number;
  /** The deployment that it asks for. */
  pinned?: number;
  /** The jobs that it runs after. */
  after?: string[];
  /** The hashes of the params of its children. */
  spawns?: string[];
  /** No client asked for it by itself: a job has spawned it, or it belongs to a batch. */
  isChild?: true;
  /** It is the batch of this name. */
  batch?: string;
  /** The transaction that stores it, if that stores other jobs as well. */
  birth?: string;
  /** Made by a schedule for this instant, and not by a request. */
  slotMs?: number;
}

type Spot = Omit<RowEvent, 'seq' | 'at' | 'begun' | 'xid' | 'move'>;

/** One job of a history made by hand, from its request to its end. */
export class JobBuilder {
  readonly id: string;
  readonly paramsSha: string;
  readonly key: string | null;
  spot: Spot | null = null;
  attemptRows = 0;
  resultSha: string | null = null;
  readonly slotMs: number | null;
  readonly batch: string | null;
  batchResult: string | null = null;
  /** Null: it is not of the deployed definition. */
  version: number | null;
  readonly #history: HistoryBuilder;
  #transactions = 0;
  #executions = 0;

  constructor(history: HistoryBuilder, number: number, options: JobOptions) {
    const { does = 'ok', delayMs = 0, maxAttempts = 3, answer = 'ok', stored = true } = options;
    this.#history = history;
    this.id = `job-${number}`;
    this.paramsSha = options.paramsSha ?? `params-${number}`;
    this.key = options.key ?? null;
    this.slotMs = options.slotMs ?? null;
    this.version = options.version ?? null;
    this.batch = options.batch ?? null;
    const { limits, stallTimeoutMs, pinned, after, spawns } = options;
    const definition = this.version === null ? 'test' : 'deployed';
    const request = { paramsSha: this.paramsSha, definition, does, delayMs };
    const wanted = {
      ...request,
      ...(limits && { limits }),
      ...(stallTimeoutMs !== undefined && { stallTimeoutMs }),
      ...(pinned !== undefined && { pinned }),
      ...(after && { after }),
      ...(spawns && { spawns }),
      ...(options.groupSize !== undefined && { groupSize: options.groupSize }),
    };
    const op = history.nextOp();
    const { client } = history.history;
    const call = { name: 'enqueue' as const, key: this.key, jobs: [wanted] };
    const asked = this.slotMs === null && !options.isChild && this.batch === null;
    if (asked) client.push({ op, at: history.tick(), phase: 'invoke', api: 'api-1', call });
    const runAt = delayMs > 0 ? history.now + delayMs * 1_000 : null;
    const state = after || this.batch !== null ? 'suspended' : delayMs > 0 ? 'scheduled' : 'queued';
    const birth = { place: 'waiting', state, claim: 0, attempts: 0, maxAttempts, runAt } as const;
    if (stored) this.move({ ...birth }, options.birth);
    const at = history.tick();
    const jobs = [{ id: this.id, status: state }];
    if (asked && answer === 'ok') client.push({ op, at, phase: 'ok', jobs });
    if (answer === 'fail') client.push({ op, at, phase: 'fail', status: 400, code: '' });
    if (answer === 'unknown') client.push({ op, at, phase: 'unknown', why: 'cut off' });
  }

  /** Leaves where it is and arrives there, in one transaction. */
  move(
    to: Partial<Spot> & { place: Place; state: JobState },
    xid = `${this.id}-${(this.#transactions += 1)}`,
  ): this {
    this.#history.tick();
    if (this.spot) this.#history.row({ ...this.spot, xid, move: 'left' });
    const was = this.spot ?? { ...NOWHERE, job: this.id };
    this.spot = { ...was, runAt: null, execution: null, ...to };
    this.#history.row({ ...this.spot, xid, move: 'came' });
    const { version } = this;
    const { claim, job } = this.spot;
    if (version !== null && to.place !== 'done') this.#history.version({ job, claim, version });
    return this;
  }

  claim(worker = 'w1'): this {
    const { claim = 0, attempts = 0 } = this.spot ?? {};
    const counted = { claim: claim + 1, attempts: attempts + 1 };
    return this.move({ place: 'running', state: 'running', worker, ...counted });
  }

  /** A run of the handler begins under the current claim. */
  start(slot = 'worker-1', build = this.version === null ? null : `build-${this.version}`): this {
    this.#executions += 1;
    const code = build === null ? {} : { build };
    return this.effect('start', { paramsSha: this.paramsSha, parent: pidOf(slot), ...code });
  }

  /** The same, in one call with other jobs. */
  startIn(group: string): this {
    this.#executions += 1;
    return this.effect('start', { paramsSha: this.paramsSha, group });
  }

  effect(what: Effect['what'], more: Partial<Effect> = {}): this {
    const parent = pidOf('worker-1');
    const who = { job: this.id, attempt: this.spot?.attempts ?? 0, execution: this.execution };
    this.#history.effect({ what, ...who, pid: 7, parent, ...more });
    return this;
  }

  /** The name of the latest run of its handler. */
  get execution(): string {
    return `${this.id}-run-${this.#executions}`;
  }

  succeed(execution = this.execution): this {
    this.resultSha = `result of ${execution}`;
    this.effect('end', { resultSha: this.resultSha });
    return this.move({ place: 'done', state: 'succeeded', execution });
  }

  /** The claim ends with a stored attempt; the job waits, or has failed. */
  fail(
    errorCode: string,
    to: 'retrying' | 'queued' | 'failed',
    execution: string | null = null,
  ): this {
    const { claim = 0, attempts: number = 0, worker } = this.spot ?? {};
    const failed = to === 'failed';
    const runAt = to === 'retrying' ? this.#history.now : null;
    this.move({
      place: failed ? 'done' : 'waiting',
      state: to,
      runAt,
      errorCode: failed ? errorCode : null,
    });
    const row = { job: this.id, claim, number, worker: worker ?? '', errorCode, execution };
    this.#history.history.attempts.push({
      seq: this.#history.nextSeq(),
      at: this.#history.now,
      ...row,
    });
    this.attemptRows += 1;
    return this;
  }

  /** Becomes due. */
  promote(): this {
    return this.move({ place: 'waiting', state: 'queued' });
  }

  final(): FinalJob[] {
    if (!this.spot) return [];
    const {
      id: job,
      spot,
      key,
      paramsSha,
      resultSha,
      attemptRows,
      slotMs,
      batch,
      batchResult,
    } = this;
    const schedule = slotMs === null ? null : 'schedule-1';
    const origin = { key, paramsSha, schedule, scheduledForMs: slotMs, batch, batchResult };
    const { state, claim, attempts, maxAttempts, errorCode } = spot;
    const counted = { claim, attempts, maxAttempts, attemptRows };
    return [{ job, places: 1, state, ...counted, errorCode, resultSha, ...origin }];
  }
}

const NOWHERE = {
  claim: 0,
  attempts: 0,
  maxAttempts: 3,
  worker: null,
  runAt: null,
  errorCode: null,
  execution: null,
};

/** The process that fills a place in a history made by hand. */
export function pidOf(slot: string): number {
  return slot.length * 1_000 + Number(slot.at(-1));
}
