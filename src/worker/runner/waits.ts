import {
  type AwaitChildren,
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
 * Durable waits of one attempt. The end of a wait is stored before the attempt ends, so a wait that
 * was interrupted, or resumed by another worker, ends at the same time.
 */
export class Waits {
  readonly #saves: Saves;
  readonly #nowMs: () => number;
  #unnamed = 0;
  #ending: Ending | null = null;

  constructor(saves: Saves, nowMs: () => number) {
    this.#saves = saves;
    this.#nowMs = nowMs;
  }

  /** What ends this attempt, also if the code of the job caught it; null when nothing does. */
  get ending(): Ending | null {
    return this.#ending;
  }

  /** Ends the attempt. */
  end(ending: Ending): never {
    this.#ending ??= ending;
    throw ending;
  }

  async sleep(length: number | string, name: string | undefined): Promise<void> {
    const ms = lengthMs(length, 'sleep');
    const step = sleepStep(name ?? String((this.#unnamed += 1)));
    const untilMs = await this.#saves.own(step, () => this.#nowMs() + ms);
    const leftMs = untilMs - this.#nowMs();
    if (leftMs > 0) this.end(new Snooze(Math.min(leftMs, WAIT_MS_MAX)));
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
    const wait = await this.#saves.own<Wait>(waitStep(name), () => {
      return { untilMs: this.#nowMs() + limitMs, schema: publishedSchema(schema ?? null) };
    });
    const leftMs = wait.untilMs - this.#nowMs();
    // Also when no time is left: the signal may have arrived since this attempt began.
    this.end(new Suspend(name, Math.min(Math.max(0, leftMs), WAIT_MS_MAX)));
  }
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
