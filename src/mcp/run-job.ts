import { type EnqueueOptions, type Job, WaitTimeout } from '../client/index.ts';
import { sentence } from '../core/views/sentence.ts';
import { ToolError, type Workplace } from './tool.ts';
import { clamp, shownValue } from './text/clamp.ts';
import { type Facts, facts } from './text/facts.ts';
import { errorFacts } from './text/job-facts.ts';
import { helpFor } from './text/next-step.ts';

const RESULT_MAX = 8_000;
const STATE_MAX = 300;

/** Enqueues a job and waits for its result, but not longer than `waitMs`. */
export async function runJob(
  { client, now, signal, onProgress }: Workplace,
  definition: string,
  params: unknown,
  options: EnqueueOptions,
  waitMs: number,
): Promise<Facts> {
  const known = { requireRegistered: true, ...options, signal };
  const handle = await client.enqueue(definition, params, known);
  const { id: jobId, status, warnings } = handle;
  const warned = warnings.map(({ code, detail }) => `${code}: ${detail}`);
  if (waitMs === 0) {
    return facts({
      done: 'It is stored; explain_job shows how it goes.',
      jobId,
      status,
      warnings: warned,
    });
  }
  const onPoll = ({ progress }: Job) => {
    const { fraction = null, message } = progress ?? {};
    if (fraction !== null) onProgress(fraction, message ?? '');
  };
  const job = await handle.wait({ timeoutMs: waitMs, signal, onPoll }).catch((error: unknown) => {
    if (error instanceof WaitTimeout) return error.job;
    throw error;
  });
  if (job?.status === 'succeeded') {
    return facts({
      jobId,
      status: job.status,
      result: shownValue(job.result, job.largeResult, RESULT_MAX),
    });
  }
  if (job?.status === 'failed' || job?.status === 'cancelled') throw new JobEnded(job);
  return facts({
    notDone: `It has not ended within ${waitMs / 1_000} s and goes on. explain_job shows how it goes.`,
    jobId,
    status: job?.status ?? status,
    state: job && clamp(sentence(job, now()), STATE_MAX),
    warnings: warned,
  });
}

/** The job that a caller waited for did not succeed. */
class JobEnded extends ToolError {
  constructor({ jobId, status, error }: Job) {
    super(`The job ${status}.`);
    const usuallyHelps = error && helpFor(error.code);
    this.facts = facts({ jobId, status, error: errorFacts(error), usuallyHelps });
  }
}
