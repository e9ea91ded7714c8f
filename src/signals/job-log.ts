import {
  DEFAULT_JOB_LINES,
  isInShare,
  type JobLines,
  parseJobLines,
} from '../core/views/job-log.ts';
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
    this.#lines = parseJobLines(lines) ?? { failures: true, share: 0 };
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

  /** A failed attempt; a warning unless it is retried. */
  failure(facts: JobFacts, event: string, more: object, level: 'info' | 'warn' = 'warn'): void {
    if (this.#lines.failures) this.#log[level]({ ...fieldsOf(facts), ...more }, event);
  }
}

/** The log fields of a job, for other lines about it. */
export function fieldsOf({ jobId, attempt, definition, tenant, traceparent }: JobFacts): object {
  return { jobId, attempt, definition, tenant, traceId: traceIdOf(traceparent) };
}
