import { AssertionError } from 'node:assert';
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../core/values/record.ts';
import type { DefinitionRef, InputOf, Job } from '../client/job.ts';

/** The jobs of one definition, with params of its type. */
export function enqueuedOf<Of extends DefinitionRef | string>(
  jobs: readonly Job[],
  definition: Of,
): (Omit<Job, 'params'> & { params: InputOf<Of> })[] {
  const key = typeof definition === 'string' ? definition : definition.key;
  return jobs.filter(({ definitionKey }) => definitionKey === key) as never;
}

/**
 * Throws unless one of the jobs is of this definition and has these params. Only the given fields
 * of an object are compared.
 */
export function assertEnqueued<Of extends DefinitionRef | string>(
  jobs: readonly Job[],
  definition: Of,
  params?: Partial<InputOf<Of>>,
): void {
  const found = enqueuedOf(jobs, definition);
  if (found.some((job) => params === undefined || fits(job.params, params))) return;
  const key = typeof definition === 'string' ? definition : definition.key;
  const wanted = params === undefined ? key : `${key} with ${JSON.stringify(params)}`;
  const made = jobs.map((job) => `  ${job.definitionKey} ${JSON.stringify(job.params)}`);
  throw new AssertionError({
    message: [
      `${wanted} was not enqueued. What was:`,
      ...(made.length > 0 ? made : ['  nothing']),
    ].join('\n'),
    actual: jobs.map((job) => ({ key: job.definitionKey, params: job.params })),
    expected: { key, params },
    operator: 'assertEnqueued',
  });
}

function fits(actual: unknown, wanted: unknown): boolean {
  if (!isRecord(actual) || !isRecord(wanted)) return isDeepStrictEqual(actual, wanted);
  return Object.entries(wanted).every(([name, value]) => fits(actual[name], value));
}
