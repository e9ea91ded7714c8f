import {
  DEFAULT_JOB_LINES,
  isInShare,
  type JobLines,
  parseJobLines,
} from '../core/views/job-log.ts';
import { rootCause } from '../core/failure/dead-letter.ts';
import type { JobError } from '../core/job/job.ts';
import { traceIdOf } from '../core/values/trace-context.ts';
import type { Log } from '../runtime/log.ts';

/** The fields of every log line about a job. */
export interface JobFacts {
  jobId: string;
  definition: string;
  tenant: string;
  attempt?: number;
  traceparent: string | null;
}

/**
 * Log lines about jobs, in the log of the process that moves the job: `job.enqueued`,
 * `job.claimed`, `job.succeeded`, `job.failed`, `job.reclaimed`. Callers check first whether a line
 * is wanted, so unwanted lines cost nothing.
 */
export class JobLog {
  readonly #log: Log;
  readonly #lines: JobLines;

  constructor(log: Log, lines: string = DEFAULT_JOB_LINES) {
    this.#log = log;
    const fallback = { failures: true, share: 0, errors: false, output: false };
    this.#lines = parseJobLines(lines) ?? fallback;
  }

  /** Whether anything except failures is logged. */
  get logsAny(): boolean {
    return this.#lines.share > 0;
  }

  logs(jobId: string): boolean {
    return isInShare(jobId, this.#lines.share);
  }

  info(facts: JobFacts, event: string, more: object = {}): void {
    if (this.logs(facts.jobId)) this.#log.info({ ...fieldsOf(facts), ...more }, event);
  }

  /** Whether the lines that this job writes are logged. */
  logsOutput(jobId: string): boolean {
    return this.#lines.output && this.logs(jobId);
  }

  /** A failed attempt; a warning unless it is retried. */
  failure(
    facts: JobFacts,
    event: string,
    more: object,
    level: 'info' | 'warn' = 'warn',
    error: JobError | null = null,
  ): void {
    if (!this.#lines.failures) return;
    const said = this.#lines.errors && error !== null ? errorFields(error) : {};
    this.#log[level]({ ...fieldsOf(facts), ...more, ...said }, event);
  }
}

function errorFields(error: JobError): object {
  const { message, stack } = error;
  return { message, cause: rootCause(error) ?? undefined, stack };
}

/** The log fields of a job, for other lines about it. */
export function fieldsOf({ jobId, attempt, definition, tenant, traceparent }: JobFacts): object {
  return { jobId, attempt, definition, tenant, traceId: traceIdOf(traceparent) };
}
