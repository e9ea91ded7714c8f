import { classify } from '../../../core/failure/classify.ts';
import type { FailedStep } from '../../../core/job/job.ts';
import type { Outcome } from '../../../core/job/lifecycle.ts';

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
const origins = new WeakMap<object, Origin>();

/** The innermost step counts: an error passes through the others. */
export function rememberStep(error: unknown, name: string, startedMs: number): void {
  if (!isObject(error) || origins.has(error)) return;
  origins.set(error, { name, startedMs, durationMs: performance.now() - startedMs });
}

/** The outcome of a job that threw. */
export function failureFrom(error: unknown, nowMs: number): Extract<Outcome, { kind: 'failure' }> {
  const classified = classify(error, nowMs);
  const step = stepOf(error);
  return {
    kind: 'failure',
    ...classified,
    ...(step && { error: { ...classified.error, step } }),
  };
}

function stepOf(error: unknown): FailedStep | null {
  const origin = originOf(error, 0);
  if (!origin) return null;
  const { name, startedMs, durationMs } = origin;
  return {
    name,
    durationMs: Math.round(durationMs),
    untilEndMs: Math.round(performance.now() - startedMs),
  };
}

function originOf(error: unknown, depth: number): Origin | undefined {
  if (!isObject(error) || depth > CAUSES_MAX) return undefined;
  return origins.get(error) ?? originOf(causeOf(error), depth + 1);
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
