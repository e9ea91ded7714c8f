import { classify } from '../../core/failure/classify.ts';
import { type JobContext, type JobDefinition, Snooze } from '../../core/definition/define.ts';
import { failureOf } from '../../core/failure/failure.ts';
import { hookOwner } from '../../core/definition/hooks.ts';
import type { Outcome } from '../../core/job/lifecycle.ts';
import { resultJson } from '../../core/job/result.ts';
import type { HookParams } from '../../core/views/history.ts';
import type { RunCommand } from '../ipc.ts';
import { hookContext, type Surroundings } from './context.ts';

export type Definitions = ReadonlyMap<string, JobDefinition>;

export function byName(definitions: readonly JobDefinition[]): Definitions {
  return new Map(definitions.map((one) => [definitionId(one), one]));
}

/** Definitions are found by key and version. */
function definitionId({ key, version }: { key: string; version: number }): string {
  return `${key}@${version}`;
}

/** Runs one job to its outcome. Never throws, whatever the code of the job does. */
export async function runJob(
  definitions: Definitions,
  job: RunCommand,
  ctx: JobContext,
  around: Surroundings,
  nowMs: () => number,
): Promise<Outcome> {
  const owner = hookOwner(job.key);
  const name = definitionId({ key: owner ?? job.key, version: job.version });
  const definition = definitions.get(name);
  if (!definition) return failure('NO_HANDLER', `this worker has no definition ${name}`);
  try {
    if (owner !== null) return await runHook(definition, job, ctx);
    const checked = await checkedParams(definition, job.params);
    if (!checked.ok) return failure('PAYLOAD_INVALID', checked.message);
    await runOnStart(definition, job, ctx, around, nowMs);
    const result = resultJson(await definition.run(checked.params as never, ctx));
    if (!result.ok) return failure(result.code, result.message);
    return { kind: 'success', resultJson: result.json };
  } catch (error) {
    if (error instanceof Snooze) return { kind: 'snoozed', delayMs: error.delayMs };
    return { kind: 'failure', ...classify(error, nowMs()) };
  }
}

/** Runs a hook of an ended job; the params say which hook, and about which job. */
async function runHook(
  { hooks }: JobDefinition,
  job: RunCommand,
  ctx: JobContext,
): Promise<Outcome> {
  const about = job.params as HookParams;
  await hooks[about.hook]?.(hookContext(ctx, about));
  return { kind: 'success', resultJson: 'null' };
}

/**
 * Runs with the job, in the same process. A failure is reported, and the job runs anyway. A snooze
 * ends the attempt, and `run` runs later.
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
    if (error instanceof Snooze) throw error;
    around.send({
      type: 'hook-failed',
      claim,
      hook: 'onStart',
      error: classify(error, nowMs()).error,
    });
  }
}

/** Params were validated on enqueue, perhaps by an older schema. Now they must match. */
async function checkedParams(
  definition: JobDefinition,
  params: unknown,
): Promise<{ ok: true; params: unknown } | { ok: false; message: string }> {
  if (!definition.schema) return { ok: true, params };
  const result = await definition.schema['~standard'].validate(params);
  if (!result.issues) return { ok: true, params: result.value };
  const shown = result.issues.slice(0, 5).map(({ message, path = [] }) => {
    const location = path.map((part) => String(keyOf(part))).join('.');
    return location === '' ? message : `${location}: ${message}`;
  });
  return { ok: false, message: `params do not fit the schema: ${shown.join('; ')}` };
}

function keyOf(part: unknown): unknown {
  return typeof part === 'object' && part !== null && 'key' in part ? part.key : part;
}

function failure(code: Parameters<typeof failureOf>[0], message: string): Outcome {
  return { kind: 'failure', error: failureOf(code, message), retryAfterMs: null };
}
