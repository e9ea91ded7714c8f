import { isTerminal, type JobView } from '../../../../src/core/job/job.ts';
import { hiddenIn } from '../jobs/hidden.ts';
import { readJson } from '../../../../src/core/form/schema-form.ts';

/** Body of `POST /v1/jobs` for a job like another one. */
export interface RunAgain {
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
export function mayRunAgain({ status, definitionKey, largeParams }: JobView): boolean {
  return isTerminal(status) && !definitionKey.startsWith('$') && !largeParams;
}

/** Without keys that would answer with the old job, and without a time to run. */
export function readRunAgain(job: JobView, text: string): RunAgain | { wrong: string } {
  const read = readJson(text);
  if ('wrong' in read) return read;
  const hidden = hiddenIn(read.value);
  if (hidden !== null) return { wrong: hidden };
  const { definitionKey, priority, tags, concurrencyKey } = job;
  return {
    definitionKey,
    params: read.value,
    ...(priority !== 0 && { priority }),
    ...(tags.length > 0 && { tags }),
    ...(concurrencyKey !== null && { concurrencyKey }),
  };
}
