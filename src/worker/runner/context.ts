import {
  type HookContext,
  type JobContext,
  type JobLogger,
  Snooze,
} from '../../core/definition/define.ts';
import { resultJson } from '../../core/job/result.ts';
import type { HookParams } from '../../core/views/history.ts';
import {
  EVENT_NAME_MAX,
  EVENT_PAYLOAD_MAX,
  type FromRunner,
  type RunCommand,
  SNOOZE_MS_MAX,
} from '../ipc.ts';
import { createLogger } from './logger.ts';
import { Saves } from './saves.ts';

/** What a context needs of its runner. */
export interface Surroundings {
  /** Made on first use, because most tiny jobs never use it. */
  signal(): AbortSignal;
  send(message: FromRunner): void;
}

export interface RunContext {
  ctx: JobContext;
  /** The worker's answer to a save. */
  answered(seq: number, problem: string | null): void;
}

/**
 * Makes the `ctx` of a job. It sends messages to the worker and knows no database. Its functions
 * work without the object, so they can be destructured.
 */
export function createContext(job: RunCommand, around: Surroundings): RunContext {
  const { id: jobId, attempt, maxAttempts, claim } = job;
  const { send } = around;
  let logger: JobLogger | undefined;
  let saves: Saves | undefined;
  const saving = () => (saves ??= new Saves(claim, job.saved, send));
  const ctx: JobContext = {
    jobId,
    attempt,
    maxAttempts,
    get abortSignal() {
      return around.signal();
    },
    get logger() {
      return (logger ??= loggerOf(job, around));
    },
    get lastCheckpoint() {
      return saving().lastCheckpoint;
    },
    checkpoint: async (value) => await saving().checkpoint(value),
    step: async (name, run) => await saving().step(name, run),
    progress(fraction, message) {
      if (typeof fraction !== 'number' || !(fraction >= 0 && fraction <= 1)) {
        throw new TypeError(`progress takes a fraction from 0 to 1 (got ${String(fraction)})`);
      }
      const text = message === undefined ? null : String(message).slice(0, 1_000);
      send({ type: 'progress', claim, fraction, message: text });
    },
    // Throws synchronously on invalid input, because the promise may not be awaited.
    emitEvent(type, payload) {
      send({ type: 'event', claim, name: eventName(type), payloadJson: eventPayload(payload) });
      return Promise.resolve();
    },
    snooze(delayMs) {
      if (typeof delayMs !== 'number' || !(delayMs >= 0 && delayMs <= SNOOZE_MS_MAX)) {
        throw new TypeError(`snooze takes 0 ms to a year (got ${String(delayMs)})`);
      }
      throw new Snooze(delayMs);
    },
  };
  return { ctx, answered: (seq, problem) => saves?.answered(seq, problem) };
}

function eventName(type: unknown): string {
  if (typeof type !== 'string' || type === '' || type.length > EVENT_NAME_MAX) {
    throw new TypeError(`an event needs a type of 1 to ${EVENT_NAME_MAX} characters`);
  }
  return type;
}

function eventPayload(payload: unknown): string {
  const checked = resultJson(payload);
  if (!checked.ok) throw new TypeError(`the payload of an event must be JSON: ${checked.reason}`);
  if (checked.json.length > EVENT_PAYLOAD_MAX) {
    throw new TypeError(`the payload of an event is limited to ${EVENT_PAYLOAD_MAX} characters`);
  }
  return checked.json;
}

/**
 * The context of a hook: that of its runner, and the end of its job as the settle statement wrote
 * it. Lazy fields stay lazy.
 */
export function hookContext(ctx: JobContext, about: HookParams): HookContext {
  const { jobId, status, attempt, maxAttempts, params, result, error } = about;
  const stands = { jobId, status, attempt, maxAttempts, params, result, error };
  return Object.defineProperties({} as HookContext, {
    ...Object.getOwnPropertyDescriptors(ctx),
    ...Object.getOwnPropertyDescriptors(stands),
  });
}

function loggerOf({ claim }: Pick<RunCommand, 'claim'>, around: Surroundings): JobLogger {
  return createLogger((level, message) => around.send({ type: 'log', claim, level, message }));
}
