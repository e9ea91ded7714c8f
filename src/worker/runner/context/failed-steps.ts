import { classify } from '../../../core/failure/classify.ts';
import type { FailedStep } from '../../../core/job/job.ts';
import type { Outcome } from '../../../core/job/lifecycle.ts';
import type { RunCommand } from '../../ipc.ts';

/**
 * Which step an error came from. The code of a job may catch the error of a step and go on, or wrap
 * it, so a failure belongs to the step whose error it is, or has as a cause.
 */

interface Origin {
  name: string;
  startedMs: number;
  durationMs: number;
}

const CAUSES_MAX = 6;
/** By job: another job of this process may throw the same object, as one that a module keeps. */
const origins = new WeakMap<RunCommand, WeakMap<object, Origin>>();

/** The innermost step counts: an error passes through the others. */
export function rememberStep(
  job: RunCommand,
  error: unknown,
  name: string,
  startedMs: number,
): void {
  if (!isObject(error)) return;
  const own = origins.get(job) ?? new WeakMap<object, Origin>();
  origins.set(job, own);
  if (own.has(error)) return;
  own.set(error, { name, startedMs, durationMs: performance.now() - startedMs });
}

/** The outcome of a job that threw. */
export function failureFrom(
  job: RunCommand,
  error: unknown,
  nowMs: number,
): Extract<Outcome, { kind: 'failure' }> {
  const classified = classify(error, nowMs);
  const step = stepOf(job, error);
  return {
    kind: 'failure',
    ...classified,
    ...(step && { error: { ...classified.error, step } }),
  };
}

function stepOf(job: RunCommand, error: unknown): FailedStep | null {
  const own = origins.get(job);
  const origin = own && originOf(own, error, 0);
  if (!origin) return null;
  const { name, startedMs, durationMs } = origin;
  return {
    name,
    durationMs: Math.round(durationMs),
    untilEndMs: Math.round(performance.now() - startedMs),
  };
}

function originOf(own: WeakMap<object, Origin>, error: unknown, depth: number): Origin | undefined {
  if (!isObject(error) || depth > CAUSES_MAX) return undefined;
  return own.get(error) ?? originOf(own, causeOf(error), depth + 1);
}

/** The error may be any object, also one whose properties throw. */
function causeOf(error: object): unknown {
  try {
    return Reflect.get(error, 'cause');
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}
