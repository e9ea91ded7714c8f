import { rootCause } from '../../../../src/core/failure/dead-letter.ts';
import { causeWords, inStep } from '../../../../src/core/failure/failure-words.ts';
import type { JobView } from '../../../../src/core/job/job.ts';
import { sentence } from '../../../../src/core/views/sentence.ts';
import { sentenceCase } from '../jobs/job-words.ts';
import { plainText } from '../jobs/log-tail.ts';

/** The state of a job in one sentence. Of an error only the root cause: its panel has the rest. */
export function headline(job: JobView, now: Date): string {
  const { error, status } = job;
  const words = sentence({ ...job, error: null }, now);
  const isFailed = error !== null && (status === 'failed' || status === 'retrying');
  const why = isFailed
    ? `${inStep(error)}: ${causeWords({ ...error, cause: rootCause(error) })}`
    : '';
  return sentenceCase(plainText(`${words}${why}`).trimEnd());
}
