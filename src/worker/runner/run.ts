import { classify } from '../../core/failure/classify.ts';
import {
  AwaitChildren,
  ChildrenFailed,
  type JobContext,
  type JobDefinition,
  SignalTimeout,
  Snooze,
} from '../../core/definition/define.ts';
import { failureOf } from '../../core/failure/failure.ts';
import { FIRST_SHAPE, shapeAfter, upgradedParams } from '../../core/shape/upgrade.ts';
import { hookOwner } from '../../core/definition/hooks.ts';
import type { Outcome } from '../../core/job/lifecycle.ts';
import { resultJson } from '../../core/job/result.ts';
import type { HookParams } from '../../core/views/history.ts';
import type { RunCommand } from '../ipc.ts';
import { failureFrom } from './context/failed-steps.ts';
import { hookContext, type Surroundings } from './context.ts';
import { contextOnDemand } from './context/on-demand.ts';
import { type Ending, isEnding } from './waits.ts';
import { schemaIssues } from './schema-issues.ts';

/** Definitions by key; of each key one or more versions. */
export type Definitions = ReadonlyMap<string, readonly JobDefinition[]>;

export function byName(definitions: readonly JobDefinition[]): Definitions {
  return Map.groupBy(definitions, ({ key }) => key);
}

/** A job and what its code gets. */
export interface Running extends Surroundings {
  readonly job: RunCommand;
  /** Made on first use. */
  readonly ctx: JobContext;
}

/**
 * Runs one job to its outcome. Never throws, whatever the code of the job does. A job whose code
 * awaits nothing, without schema and `onStart`, has its outcome at once: no promise is made for it.
 */
export function runJob(
  definitions: Definitions,
  running: Running,
  nowMs: () => number,
): Outcome | Promise<Outcome> {
  const { job } = running;
  const owner = hookOwner(job.key);
  const key = owner ?? job.key;
  const definition = definitions.get(key)?.find(({ version }) => version === job.version);
  if (!definition) {
    return failure('NO_HANDLER', `this worker has no definition ${key}@${job.version}`);
  }
  if (owner !== null) return outcomeOf(job, runHook(definition, job, running.ctx), nowMs);
  const isOlder = (job.paramsShape ?? FIRST_SHAPE) < shapeAfter(definition.upgrades);
  if (definition.schema || definition.hooks.onStart || isOlder) {
    return outcomeOf(job, runPrepared(definition, running, nowMs), nowMs);
  }
  try {
    const isAsked = definition.run.length >= 2;
    const ctx = isAsked ? running.ctx : contextOnDemand(running);
    const value = definition.run(job.params as never, ctx);
    const { resultMaxBytes: max } = job;
    return isThenable(value) ? outcomeOf(job, resultOf(value, max), nowMs) : success(value, max);
  } catch (error) {
    return thrown(job, error, nowMs);
  }
}

async function outcomeOf(
  job: RunCommand,
  work: Promise<Outcome>,
  nowMs: () => number,
): Promise<Outcome> {
  try {
    return await work;
  } catch (error) {
    return thrown(job, error, nowMs);
  }
}

async function resultOf(value: unknown, maxBytes: number | undefined): Promise<Outcome> {
  return success(await value, maxBytes);
}

export function success(value: unknown, maxBytes: number | undefined): Outcome {
  const result = resultJson(value, maxBytes);
  if (!result.ok) return failure(result.code, result.message);
  return { kind: 'success', resultJson: result.json };
}

/** The outcome of an attempt that ends to go on later. */
export function endingOutcome(ending: Ending): Outcome {
  if (ending instanceof AwaitChildren) return { kind: 'suspended', children: true };
  if (ending instanceof Snooze) {
    const { delayMs, isSleep } = ending;
    return { kind: 'snoozed', delayMs, ...(isSleep && { sleep: true as const }) };
  }
  return { kind: 'suspended', signal: ending.signal, timeoutMs: ending.timeoutMs };
}

export function thrown(job: RunCommand, error: unknown, nowMs: () => number): Outcome {
  if (isEnding(error)) return endingOutcome(error);
  return failureFrom(job, error, nowMs());
}

function isThenable(value: unknown): boolean {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  return 'then' in value && typeof value.then === 'function';
}

async function runPrepared(
  definition: JobDefinition,
  running: Running,
  nowMs: () => number,
): Promise<Outcome> {
  const { job, ctx } = running;
  const params = await currentParams(definition, job, job.params);
  const checked = await checkedParams(definition, params);
  if (!checked.ok) return failure('PAYLOAD_INVALID', checked.message);
  await runOnStart(definition, { ...job, params }, ctx, running, nowMs);
  return success(await definition.run(checked.params as never, ctx), job.resultMaxBytes);
}

/** Runs a hook of an ended job; the params say which hook, and about which job. */
async function runHook(
  definition: JobDefinition,
  job: RunCommand,
  ctx: JobContext,
): Promise<Outcome> {
  const { hooks } = definition;
  const stored = job.params as HookParams;
  const about = { ...stored, params: await currentParams(definition, job, stored.params) };
  const cannot = (what: string) => async () => {
    throw new TypeError(`${about.hook} cannot ${what}: its job has ended`);
  };
  const [waitFor, spawn] = [cannot('wait for a signal'), cannot('have children')];
  const family = { spawn, spawnMany: spawn, waitForChildren: spawn };
  const without = { waitFor, signalLink: waitFor, ...family };
  await hooks[about.hook]?.(Object.assign(hookContext(ctx, about), without));
  return { kind: 'success', resultJson: 'null' };
}

/**
 * Runs with the job, in the same process. A failure is reported, and the job runs anyway. A snooze
 * or a wait ends the attempt, and `run` runs later.
 */
async function runOnStart(
  { hooks }: JobDefinition,
  job: RunCommand,
  ctx: JobContext,
  around: Surroundings,
  nowMs: () => number,
): Promise<void> {
  if (!hooks.onStart) return;
  const { id: jobId, attempt, maxAttempts, params, claim } = job;
  const now = { status: 'running', result: null, error: null } as const;
  const about = { hook: 'onStart', jobId, attempt, maxAttempts, params, ...now } as const;
  try {
    await hooks.onStart(hookContext(ctx, about));
  } catch (error) {
    if (isEnding(error)) throw error;
    // Without its signal or its children, the job must not run.
    if (error instanceof SignalTimeout || error instanceof ChildrenFailed) throw error;
    around.send({
      type: 'hook-failed',
      claim,
      hook: 'onStart',
      error: classify(error, nowMs()).error,
    });
  }
}

/** Params of an older shape are upgraded. */
export async function currentParams(
  { upgrades }: JobDefinition,
  { paramsShape = FIRST_SHAPE }: RunCommand,
  params: unknown,
): Promise<unknown> {
  if (paramsShape >= shapeAfter(upgrades)) return params;
  return await upgradedParams(upgrades ?? [], paramsShape, params);
}

/** Params were validated on enqueue, perhaps by an older schema. Now they must match. */
export async function checkedParams(
  definition: JobDefinition,
  params: unknown,
): Promise<{ ok: true; params: unknown } | { ok: false; message: string }> {
  if (!definition.schema) return { ok: true, params };
  const result = await definition.schema['~standard'].validate(params);
  if (!result.issues) return { ok: true, params: result.value };
  const message = `params do not fit the schema: ${schemaIssues(result.issues)}`;
  return { ok: false, message };
}

export function failure(code: Parameters<typeof failureOf>[0], message: string): Outcome {
  return { kind: 'failure', error: failureOf(code, message), retryAfterMs: null };
}
