import { DEFAULT_RETRY, RETRY_PRESETS } from './backoff.ts';
import { DefinitionError, type RetryInput } from '../definition/definition.ts';
import { YEAR_MS } from '../values/duration.ts';
import type { RetryPolicy } from '../job/job.ts';
import { unknownName } from '../values/nearest.ts';

/** Fills in the defaults of a retry policy. */
export function retryPolicy(input: RetryInput | undefined): RetryPolicy {
  if (input === undefined) return DEFAULT_RETRY;
  if (typeof input === 'string') return presetOf(input).retry;
  if (typeof input !== 'object' || input === null) {
    throw new DefinitionError('retry must be a preset, or an object');
  }
  const jitter = numberIn('retry.jitter', input.jitter ?? 0.1, 0, 1);
  if ('delaysMs' in input) {
    if (!Array.isArray(input.delaysMs) || input.delaysMs.length === 0) {
      throw new DefinitionError('retry.delaysMs must list at least one delay');
    }
    const delaysMs = input.delaysMs.map((delay) => numberIn('retry.delaysMs', delay, 0, YEAR_MS));
    return { delaysMs, jitter };
  }
  const base = DEFAULT_RETRY as { baseMs: number; maxMs: number };
  const baseMs = numberIn('retry.baseMs', input.baseMs ?? base.baseMs, 0, YEAR_MS);
  const maxMs = numberIn('retry.maxMs', input.maxMs ?? Math.max(base.maxMs, baseMs), 0, YEAR_MS);
  return { baseMs, maxMs, jitter };
}

/**
 * For JavaScript callers. The API validates its own bodies, and the type checker does for
 * TypeScript.
 */
export function knownFields(key: string, input: RetryInput | undefined): RetryInput | undefined {
  if (typeof input !== 'object' || input === null) return input;
  const known = 'delaysMs' in input ? ['delaysMs', 'jitter'] : ['baseMs', 'maxMs', 'jitter'];
  for (const name of Object.keys(input)) {
    if (!known.includes(name)) {
      throw new DefinitionError(`${key}: ${unknownName('field of retry', name, known)}`);
    }
  }
  return input;
}

export function presetOf(name: string): { retry: RetryPolicy; maxAttempts: number } {
  const preset = Object.hasOwn(RETRY_PRESETS, name) ? RETRY_PRESETS[name] : undefined;
  if (preset) return preset;
  throw new DefinitionError(unknownName('retry preset', name, Object.keys(RETRY_PRESETS)));
}

function numberIn(name: string, value: number, min: number, max: number): number {
  if (typeof value !== 'number' || !(value >= min && value <= max)) {
    throw new DefinitionError(`${name} must be a number from ${min} to ${max}`);
  }
  return value;
}
