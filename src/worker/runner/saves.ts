import { resultJson } from '../../core/job/result.ts';
import { type FromRunner, SAVED_MAX_BYTES, type Saved, STEP_NAME_MAX } from '../ipc.ts';

/**
 * Checkpoints and steps of one attempt. The runner has no database: it asks its worker to store a
 * value and waits for the answer, so an awaited step is durable.
 *
 * A step always returns its value as it was stored, also the first time. So a value that does not
 * survive JSON (a Date, a class) shows up in the first run, not in a retry.
 */
export class Saves {
  readonly #claim: number;
  readonly #send: (message: FromRunner) => void;
  readonly #stored: Map<string, unknown>;
  readonly #running = new Map<string, Promise<unknown>>();
  readonly #waiting = new Map<number, (problem: string | null) => void>();
  #checkpoint: unknown;
  #seq = 0;

  constructor(claim: number, saved: Saved | undefined, send: (message: FromRunner) => void) {
    this.#claim = claim;
    this.#send = send;
    this.#checkpoint = saved?.checkpoint;
    this.#stored = new Map(Object.entries(saved?.steps ?? {}));
  }

  get lastCheckpoint(): unknown {
    return this.#checkpoint;
  }

  async checkpoint(value: unknown): Promise<void> {
    const json = storable(value, 'a checkpoint');
    await this.#save(null, json);
    this.#checkpoint = JSON.parse(json) as unknown;
  }

  async step<T>(name: string, run: () => Promise<T> | T): Promise<T> {
    if (!isName(name))
      throw new TypeError(`a step needs a name of 1 to ${STEP_NAME_MAX} characters`);
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

  /** The worker's answer. */
  answered(seq: number, problem: string | null): void {
    this.#waiting.get(seq)?.(problem);
    this.#waiting.delete(seq);
  }

  async #runStep(name: string, run: () => unknown): Promise<unknown> {
    const json = storable(await run(), `step "${name}"`);
    await this.#save(name, json);
    const value = JSON.parse(json) as unknown;
    this.#stored.set(name, value);
    return value;
  }

  async #save(step: string | null, valueJson: string): Promise<void> {
    const seq = ++this.#seq;
    const answer = new Promise<string | null>((resolve) => this.#waiting.set(seq, resolve));
    this.#send({ type: 'save', claim: this.#claim, seq, step, valueJson });
    const problem = await answer;
    if (problem !== null) throw new Error(problem);
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
