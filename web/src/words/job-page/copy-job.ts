import { isTerminal, type JobView } from '../../../../src/core/job/job.ts';

/** Body of `POST /v1/jobs` for a job like another one. */
export interface JobCopy {
  definitionKey: string;
  params: unknown;
  priority?: number;
  tags?: string[];
  concurrencyKey?: string;
}

/**
 * Hooks and deliveries of webhooks (`$…`) cannot be enqueued by callers. Large params are not here to be
 * copied.
 */
export function mayCopy({ status, definitionKey, largeParams }: JobView): boolean {
  return isTerminal(status) && !definitionKey.startsWith('$') && !largeParams;
}

/** Without keys that would answer with the old job, and without a time to run. */
export function copyOf(job: JobView, params: unknown): JobCopy {
  const { definitionKey, priority, tags, concurrencyKey } = job;
  return {
    definitionKey,
    params,
    ...(priority !== 0 && { priority }),
    ...(tags.length > 0 && { tags }),
    ...(concurrencyKey !== null && { concurrencyKey }),
  };
}
