import { type HookContext, type JobContext, Snooze } from '../../core/definition/define.ts';
import type { SpawnDefinition, SpawnOptions } from '../../core/dependency/children.ts';
import { type JobOutcome, omittedWarning, PARENTS_STEP } from '../../core/dependency/dependency.ts';
import { resultJson } from '../../core/job/result.ts';
import type { HookParams } from '../../core/views/history.ts';
import {
  EVENT_NAME_MAX,
  EVENT_PAYLOAD_MAX,
  type FromRunner,
  type RunCommand,
  type SaveAnswer,
  SNOOZE_MS_MAX,
} from '../ipc.ts';
import { Children } from './spawn/children.ts';
import { createLogger } from './context/logger.ts';
import { heartbeatOf } from './heartbeat-rate.ts';
import { makeLink } from './links.ts';
import { Saves } from './saves.ts';
import { streamOf } from './stream-text.ts';
import { type Ending, Waits } from './waits.ts';

/** What a context needs of its runner. */
export interface Surroundings {
  /** Made on first use, because most tiny jobs never use it. */
  readonly signal: AbortSignal;
  readonly nowMs: () => number;
  /** When the attempt started, by the monotonic clock; 0 when earlier attempts stored nothing. */
  readonly startedMs: number;
  /** The address of the server for links; null when it is not known. */
  readonly publicUrl: string | null;
  /** Whether the process has other work, so an error of a promise without await must not reach it. */
  readonly sharesProcess: boolean;
  send(message: FromRunner): void;
}

const AROUND = Symbol('around');
const NO_SECRETS = Object.freeze({});
const NO_PARENTS: readonly JobOutcome[] = Object.freeze([]);

type Fields = Omit<JobContext, 'abortSignal' | 'lastCheckpoint'> & {
  [AROUND]: Surroundings;
  abortSignal?: AbortSignal;
  lastCheckpoint: unknown;
};

/**
 * One function for all contexts: an object literal with a getter makes a slow object of each
 * (measured: 2 µs). It is an own property, so that a copy of the context (`{ ...ctx }`) has it.
 */
const ABORT_SIGNAL = {
  enumerable: true,
  // A proxy may not show what cannot be changed (`context/on-demand.ts`).
  configurable: true,
  get(this: { [AROUND]: Surroundings }): AbortSignal {
    return this[AROUND].signal;
  },
};

export interface RunContext {
  ctx: JobContext;
  /** The worker's answer to a save or spawn. */
  answered(seq: number, answer: SaveAnswer): void;
  /** A sleep or a wait that ends the attempt, whatever the code of the job makes of it. */
  ending(): Ending | null;
  /**
   * The code has returned. Warns of what it did not await; a promise when it began waits that are
   * not decided yet, which rejects with their error.
   */
  returned(): Promise<void> | null;
  /** An error reached the process because its promise was not awaited. */
  escaped(error: unknown): void;
}

/**
 * Makes the `ctx` of a job. It sends messages to the worker and knows no database. Its functions
 * work without the object, so they can be destructured.
 */
export function createContext(job: RunCommand, around: Surroundings): RunContext {
  const { id: jobId, tenant, attempt, maxAttempts, claim } = job;
  const send = (message: FromRunner) => around.send(message);
  let saves: Saves | undefined;
  const saving = () => (saves ??= new Saves(job, around.startedMs, send));
  let stream: ((text: string) => void) | undefined;
  let waits: Waits | undefined;
  const waiting = () => (waits ??= new Waits(saving(), around.sharesProcess));
  let children: Children | undefined;
  const family = () =>
    (children ??= new Children(saving(), waiting(), job.resultMaxBytes, (text) =>
      fields.logger.warn(text),
    ));
  const fields: Fields = {
    [AROUND]: around,
    jobId,
    tenant,
    attempt,
    maxAttempts,
    secrets: job.secrets ?? NO_SECRETS,
    parents: parentsOf(job),
    logger: createLogger((level, message) => send({ type: 'log', claim, level, message })),
    lastCheckpoint: job.saved?.checkpoint,
    checkpoint: async (value) => {
      fields.lastCheckpoint = await saving().checkpoint(value);
    },
    step: async (name, run) => await saving().step(name, run),
    sleep: (length, options) =>
      waiting().begin(call('sleep', length), waiting().sleep(length, options?.name)),
    waitFor: (name, options = {}) =>
      waiting().begin(call('waitFor', name), waiting().waitFor(name, options)),
    signalLink: async (name, options = {}) =>
      await makeLink(saving(), jobId, name, options, around),
    spawn: async (definition: SpawnDefinition | string, params?: unknown, options?: SpawnOptions) =>
      await family().spawn({ definition, params, options }),
    // The results have the types of the definitions, which only the caller knows.
    spawnMany: async (entries) => (await family().spawnMany(entries)) as never,
    waitForChildren: (options = {}) => waiting().begin('waitForChildren()', family().wait(options)),
    progress(fraction, message) {
      if (typeof fraction !== 'number' || !(fraction >= 0 && fraction <= 1)) {
        throw new TypeError(`progress takes a fraction from 0 to 1 (got ${String(fraction)})`);
      }
      const text = message === undefined ? null : String(message).slice(0, 1_000);
      send({ type: 'progress', claim, fraction, message: text });
    },
    heartbeat: heartbeatOf(job.heartbeatMs, () => send({ type: 'heartbeat', claim })),
    // Throws synchronously on invalid input, because the promise may not be awaited.
    emitEvent(type, payload) {
      send({ type: 'event', claim, name: eventName(type), payloadJson: eventPayload(payload) });
      return Promise.resolve();
    },
    stream(text) {
      stream ??= streamOf(job.streamMaxBytes, (piece) =>
        send({ type: 'stream', claim, text: piece }),
      );
      stream(text);
    },
    snooze(delayMs) {
      if (typeof delayMs !== 'number' || !(delayMs >= 0 && delayMs <= SNOOZE_MS_MAX)) {
        throw new TypeError(`snooze takes 0 ms to a year (got ${String(delayMs)})`);
      }
      throw new Snooze(delayMs);
    },
  };
  if (fields.parents !== NO_PARENTS) {
    const omitted = omittedWarning(fields.parents, 'parents');
    if (omitted !== null) fields.logger.warn(omitted);
  }
  const ctx = Object.defineProperty(fields, 'abortSignal', ABORT_SIGNAL) as JobContext;
  return {
    ctx,
    answered: (seq, answer) => saves?.answered(seq, answer),
    ending: () => waits?.ending ?? null,
    returned() {
      for (const name of saves?.running ?? []) fields.logger.warn(stillRunning(name));
      if (!waits) return null;
      if (waits.endedBy !== null) fields.logger.warn(returnedAfter(waits.endedBy));
      for (const one of waits.open) fields.logger.warn(notAwaited(one));
      return waits.open.length > 0 && !waits.ending ? waits.decided() : null;
    },
    escaped(error) {
      const by = waits?.endedBy ?? null;
      if (by === null || error !== waits?.ending) return;
      fields.logger.warn(`${by} was not awaited: is an await missing?`);
    },
  };
}

function stillRunning(step: string): string {
  return `step ${JSON.stringify(step)} was still running when run() returned: is an await missing?`;
}

function notAwaited(wait: string): string {
  return `run() returned while ${wait} was not awaited: is an await missing?`;
}

function returnedAfter(wait: string): string {
  return `run() returned after ${wait} had ended the attempt: is an await missing, or was its error caught?`;
}

function call(name: string, argument: unknown): string {
  return `${name}(${JSON.stringify(argument) ?? ''})`;
}

/** The worker gives them as a step. */
function parentsOf({ saved }: RunCommand): readonly JobOutcome[] {
  return (saved?.steps[PARENTS_STEP] as JobOutcome[] | undefined) ?? NO_PARENTS;
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
 * The context of a hook: that of its runner, and the facts of its job; after its end, as the settle
 * statement wrote them.
 */
export function hookContext(ctx: JobContext, about: HookParams): HookContext {
  const { jobId, status, attempt, maxAttempts, params, result, error } = about;
  const stands = { jobId, status, attempt, maxAttempts, params, result, error };
  const { tenant, logger, secrets, parents, checkpoint, step, progress, heartbeat, emitEvent } =
    ctx;
  const { stream, snooze, sleep, waitFor, signalLink, spawn, spawnMany, waitForChildren } = ctx;
  const functions = { checkpoint, step, progress, heartbeat, emitEvent, stream, snooze };
  const waits = { sleep, waitFor, signalLink, spawn, spawnMany, waitForChildren };
  return {
    ...stands,
    ...functions,
    ...waits,
    tenant,
    logger,
    secrets,
    parents,
    get abortSignal() {
      return ctx.abortSignal;
    },
    get lastCheckpoint() {
      return ctx.lastCheckpoint;
    },
  };
}
