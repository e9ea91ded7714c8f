import type { Job, JobAttempt } from '../../client/index.ts';
import type { JobError } from '../../core/job/job.ts';
import { errorSummary } from '../../core/failure/error-summary.ts';
import { ownFrames } from '../../core/failure/own-frames.ts';
import { duration } from '../../core/values/duration.ts';
import { sentence } from '../../core/views/sentence.ts';
import { clamp } from './clamp.ts';
import { type Facts, facts } from './facts.ts';

const STATE_MAX = 300;
const MESSAGE_MAX = 1_500;
const FRAMES = 3;
const FRAME_MAX = 200;
const CAUSES_MAX = 3;

/** A job as an entry of a list. */
export function jobRow(job: Job, now: Date): Facts {
  return facts({
    jobId: job.jobId,
    definition: job.definitionKey,
    status: job.status,
    state: clamp(sentence(job, now), STATE_MAX),
    owner: job.owner,
    createdAt: job.createdAt,
    finishedAt: job.finishedAt,
    tags: job.tags,
    warnings: warningsOf(job),
  });
}

export function warningsOf({ warnings }: Job): string[] {
  return warnings.map(({ code, detail }) => (detail ? `${code}: ${detail}` : code));
}

/** The error with the place in the code of the job, and what caused it. */
export function errorFacts(error: JobError | null, depth = 0): Facts | null {
  if (error === null || depth > CAUSES_MAX) return null;
  return facts({
    code: error.code,
    message: clamp(error.message, MESSAGE_MAX),
    step: error.step?.name,
    at: placesOf(error),
    cause: errorFacts(error.cause, depth + 1),
  });
}

/** The topmost frames that are not of Node, a package or Longshore. */
function placesOf({ stack }: JobError): string[] {
  return ownFrames(stack ?? '', null)
    .slice(0, FRAMES)
    .map((line) => clamp(line.replace(/^at /, ''), FRAME_MAX));
}

/** The innermost cause in one line; null when the error has none. */
export function rootCause(error: JobError | null): string | null {
  let root = error?.cause ?? null;
  for (let depth = 1; root?.cause && depth < CAUSES_MAX; depth += 1) root = root.cause;
  return errorSummary(root);
}

export function attemptRow(attempt: JobAttempt): Facts {
  const { error, exitCode, signal, durationMs, peakRssBytes } = attempt;
  return facts({
    attempt: attempt.number,
    startedAt: attempt.startedAt,
    took: durationMs === null ? null : duration(durationMs),
    outcome: attempt.outcome ?? 'running',
    error: error === null ? null : clamp(`${error.code}: ${error.message}`, STATE_MAX),
    exitCode: exitCode === 0 ? null : exitCode,
    signal,
    peakMemoryMb: peakRssBytes === null ? null : Math.round(peakRssBytes / 1_048_576),
    workerId: attempt.workerId,
  });
}
