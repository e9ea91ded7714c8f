import { resultJson } from '../../core/job/result.ts';
import { isReservedStep, rejectStep, signalStep } from '../../core/job/signal.ts';
import {
  type FromRunner,
  type RunCommand,
  SAVED_MAX_BYTES,
  type SaveAnswer,
  type SaveRequest,
  STEP_NAME_MAX,
} from '../ipc.ts';
import { rememberStep } from './context/failed-steps.ts';
import type { ChildRequest, SpawnedChild } from '../../core/dependency/children.ts';

/**
 * Checkpoints and steps of one attempt. The runner has no database: it asks its worker to store a
 * value and waits for the answer, so an awaited step is durable.
 *
 * A step always returns its value as it was stored, also the first time. So a value that does not
 * survive JSON (a Date, a class) shows up in the first run, not in a retry.
 */
export class Saves {
  readonly #job: RunCommand;
  readonly #send: (message: FromRunner) => void;
  readonly #stored: Map<string, unknown>;
  readonly #agesMs: Readonly<Record<string, number>>;
  readonly #startedMs: number;
  readonly #running = new Map<string, Promise<unknown>>();
  readonly #waiting = new Map<number, (answer: SaveAnswer) => void>();
  #seq = 0;

  /** The attempt started at that time of the monotonic clock. */
  constructor(job: RunCommand, startedMs: number, send: (message: FromRunner) => void) {
    this.#job = job;
    this.#send = send;
    this.#startedMs = startedMs;
    this.#agesMs = job.saved?.agesMs ?? {};
    this.#stored = new Map(Object.entries(job.saved?.steps ?? {}));
  }

  /** Returns the value as it was stored. */
  async checkpoint(value: unknown): Promise<unknown> {
    const json = storable(value, 'a checkpoint');
    await this.#save({ step: null, valueJson: json, durationMs: null });
    return JSON.parse(json) as unknown;
  }

  async step<T>(name: string, run: () => Promise<T> | T): Promise<T> {
    if (!isName(name))
      throw new TypeError(`a step needs a name of 1 to ${STEP_NAME_MAX} characters`);
    if (isReservedStep(name))
      throw new TypeError(`the name of a step cannot begin with "${name.split(':')[0]}:"`);
    return await this.own(name, run);
  }

  /** The steps that the code of the job has begun and that are not stored yet. */
  get running(): string[] {
    return [...this.#running.keys()].filter((name) => !isReservedStep(name));
  }

  /** What is stored under a name. */
  find(name: string): { value: unknown } | null {
    return this.#stored.has(name) ? { value: this.#stored.get(name) } : null;
  }

  /**
   * How long ago an earlier attempt stored a sleep or a wait, by the database's clock: workers differ
   * in theirs. 0 for this attempt.
   */
  ageMs(step: string): number {
    const ageMs = this.#agesMs[step];
    return ageMs === undefined ? 0 : Math.max(0, ageMs) + performance.now() - this.#startedMs;
  }

  /** Discards a stored signal, so that it can be sent again. */
  async reject(signal: string, issues: string): Promise<void> {
    const valueJson = storable(issues, 'a reason');
    await this.#save({ step: rejectStep(signal), valueJson, durationMs: null });
    this.#stored.delete(signalStep(signal));
  }

  /** A step of any name: those of Longshore itself are reserved. */
  async own<T>(name: string, run: () => Promise<T> | T): Promise<T> {
    if (this.#stored.has(name)) return this.#stored.get(name) as T;
    // The same step requested twice at the same time runs once.
    const running = this.#running.get(name) ?? this.#runStep(name, run);
    this.#running.set(name, running);
    try {
      return (await running) as T;
    } finally {
      this.#running.delete(name);
    }
  }

  /** Stores children, and returns them in their order. */
  async spawn(children: ChildRequest[]): Promise<SpawnedChild[]> {
    const { spawned } = await this.#ask((about) => ({ type: 'spawn', ...about, children }));
    if (spawned?.length !== children.length) throw new Error('the worker did not store them all');
    return spawned;
  }

  /** The worker's answer. */
  answered(seq: number, answer: SaveAnswer): void {
    this.#waiting.get(seq)?.(answer);
    this.#waiting.delete(seq);
  }

  async #runStep(name: string, run: () => unknown): Promise<unknown> {
    const startedMs = performance.now();
    const isOwn = isReservedStep(name);
    if (!isOwn) this.#tell(name, 'started');
    try {
      const made = await run();
      const durationMs = Math.round(performance.now() - startedMs);
      const json = storable(made, `step "${name}"`);
      await this.#save({ step: name, valueJson: json, durationMs });
      const value = JSON.parse(json) as unknown;
      this.#stored.set(name, value);
      return value;
    } catch (error) {
      if (!isOwn) {
        rememberStep(this.#job, error, name, startedMs);
        this.#tell(name, 'failed');
      }
      throw error;
    }
  }

  #tell(name: string, state: 'started' | 'failed'): void {
    this.#send({ type: 'step', claim: this.#job.claim, name, state });
  }

  async #save(request: SaveRequest): Promise<void> {
    await this.#ask((about) => ({ type: 'save', ...about, ...request }));
  }

  async #ask(message: (about: { claim: number; seq: number }) => FromRunner): Promise<SaveAnswer> {
    const seq = ++this.#seq;
    const answer = new Promise<SaveAnswer>((resolve) => this.#waiting.set(seq, resolve));
    this.#send(message({ claim: this.#job.claim, seq }));
    const answered = await answer;
    if (answered.problem !== null) throw new Error(answered.problem);
    return answered;
  }
}

/** A name that PostgreSQL cannot store exactly would not be found by the next attempt. */
function isName(name: unknown): boolean {
  if (typeof name !== 'string' || name === '' || name.length > STEP_NAME_MAX) return false;
  return name.isWellFormed() && !name.includes('\u0000');
}

function storable(value: unknown, what: string): string {
  const checked = resultJson(value);
  if (!checked.ok) throw new TypeError(`${what} cannot be stored: ${checked.reason}`);
  if (checked.json.length > SAVED_MAX_BYTES) {
    throw new TypeError(`${what} is larger than ${SAVED_MAX_BYTES} bytes of JSON`);
  }
  return checked.json;
}
