import {
  AwaitChildren,
  publishedSchema,
  SignalTimeout,
  type StandardSchema,
  Snooze,
  Suspend,
  type WaitForOptions,
} from '../../core/definition/define.ts';
import {
  isSignalName,
  SIGNAL_NAME_RULE,
  signalStep,
  sleepStep,
  timeoutStep,
  type Wait,
  WAIT_MS_MAX,
  waitStep,
} from '../../core/job/signal.ts';
import { duration } from '../../core/values/duration.ts';
import { parseDuration } from '../../core/values/parse-duration.ts';
import { schemaIssues } from './schema-issues.ts';
import type { Saves } from './saves.ts';

/** What ends an attempt that goes on later. */
export type Ending = Snooze | Suspend | AwaitChildren;

/**
 * Durable waits of one attempt. A wait is stored before the attempt ends, so a wait that was
 * interrupted, or resumed by another worker, ends at the same time. It counts from that moment by the
 * database's clock, because the clocks of workers differ.
 */
export class Waits {
  readonly #saves: Saves;
  readonly #sharesProcess: boolean;
  readonly #open = new Set<{ call: string }>();
  #unnamed = 0;
  #ending: Ending | null = null;
  #endedBy: string | null = null;
  /** Set when the code has returned while waits are open. */
  #onDecided: { resolve: () => void; reject: (error: unknown) => void } | null = null;

  constructor(saves: Saves, sharesProcess: boolean) {
    this.#saves = saves;
    this.#sharesProcess = sharesProcess;
  }

  /** What ends this attempt, also if the code of the job caught it; null when nothing does. */
  get ending(): Ending | null {
    return this.#ending;
  }

  /** The waits that the code has begun and that are not decided, such as `sleep("2 days")`. */
  get open(): string[] {
    return [...this.#open].map(({ call }) => call);
  }

  /** The wait that ends this attempt, as the code calls it. */
  get endedBy(): string | null {
    return this.#endedBy;
  }

  /**
   * One call of a wait. If the code does not await it, it counts nevertheless: the attempt ends as it
   * does, and not as the code returned.
   */
  begin<T>(call: string, work: Promise<T>): Promise<T> {
    const wait = { call };
    this.#open.add(wait);
    const given = work.then(
      (value) => {
        this.#decided(wait);
        return value;
      },
      async (error: unknown) => {
        const isEnd = isEnding(error);
        if (isEnd) this.#endedBy ??= call;
        if (this.#onDecided) {
          // The code has returned, so it cannot catch it.
          if (!isEnd) this.#onDecided.reject(error);
          this.#decided(wait);
          return await new Promise<never>(() => undefined);
        }
        this.#open.delete(wait);
        // In a process of its own, an error without await ends the job at once.
        if (isEnd && this.#sharesProcess) given.catch(() => undefined);
        throw error;
      },
    );
    return given;
  }

  /** The code has returned: resolves when its open waits are decided; rejects with their error. */
  async decided(): Promise<void> {
    await new Promise<void>((resolve, reject) => (this.#onDecided = { resolve, reject }));
  }

  #decided(wait: { call: string }): void {
    this.#open.delete(wait);
    if (this.#open.size === 0 || this.#ending) this.#onDecided?.resolve();
  }

  /** Ends the attempt. */
  end(ending: Ending): never {
    this.#ending ??= ending;
    throw ending;
  }

  async sleep(length: number | string, name: string | undefined): Promise<void> {
    const ms = lengthMs(length, 'sleep');
    const step = sleepStep(name ?? String((this.#unnamed += 1)));
    const storedMs = await this.#saves.own(step, () => ms);
    const leftMs = this.#leftMs(step, storedMs);
    if (leftMs > 0) this.end(new Snooze(leftMs, true));
  }

  async waitFor<T>(name: string, { timeoutMs, schema }: WaitForOptions<T>): Promise<T> {
    if (!isSignalName(name)) throw new TypeError(`the name of a signal is ${SIGNAL_NAME_RULE}`);
    const limitMs = lengthMs(timeoutMs ?? WAIT_MS_MAX, 'waitFor');
    const stored = this.#saves.find(signalStep(name));
    if (stored) {
      const read = await payloadOf(stored.value, schema);
      if ('payload' in read) return read.payload;
      await this.#saves.reject(name, read.issues);
    }
    if (this.#saves.find(timeoutStep(name))) throw new SignalTimeout(name);
    const step = waitStep(name);
    const wait = await this.#saves.own<Wait>(step, () => {
      return { timeoutMs: limitMs, schema: publishedSchema(schema ?? null) };
    });
    // Also when no time is left: the signal may have arrived since this attempt began.
    this.end(new Suspend(name, this.#leftMs(step, wait.timeoutMs)));
  }

  /** In whole milliseconds, never too few. */
  #leftMs(step: string, ms: number): number {
    return Math.ceil(Math.min(Math.max(0, ms - this.#saves.ageMs(step)), WAIT_MS_MAX));
  }
}

export function isEnding(error: unknown): error is Ending {
  return error instanceof Snooze || error instanceof Suspend || error instanceof AwaitChildren;
}

async function payloadOf<T>(
  payload: unknown,
  schema: StandardSchema<T> | undefined,
): Promise<{ payload: T } | { issues: string }> {
  if (schema === undefined) return { payload: payload as T };
  const result = await schema['~standard'].validate(payload);
  return result.issues ? { issues: schemaIssues(result.issues) } : { payload: result.value };
}

function lengthMs(length: unknown, call: string): number {
  const ms = typeof length === 'string' ? parseDuration(length) : length;
  if (typeof ms === 'number' && ms >= 0 && ms <= WAIT_MS_MAX) return ms;
  const rule = `milliseconds or a text like "2 days", at most ${duration(WAIT_MS_MAX)}`;
  throw new TypeError(`${call} takes ${rule} (got ${JSON.stringify(length)})`);
}
