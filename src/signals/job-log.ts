import {
  DEFAULT_JOB_LINES,
  isInShare,
  type JobLines,
  parseJobLines,
} from '../core/views/job-log.ts';
import { traceIdOf } from '../core/values/trace-context.ts';
import type { Log } from '../runtime/log.ts';

/** What every line about a job carries. */
export interface JobFacts {
  jobId: string;
  definition: string;
  tenant: string;
  attempt?: number;
  traceparent: string | null;
}

/**
 * The lines that a job leaves in the log of whoever moves it: `job.enqueued`, `job.claimed`,
 * `job.succeeded`, `job.failed`, `job.reclaimed`. Who asks first whether a line is wanted pays nothing
 * for those that are not.
 */
export class JobLog {
  readonly #log: Log;
  readonly #lines: JobLines;

  constructor(log: Log, lines: string = DEFAULT_JOB_LINES) {
    this.#log = log;
    this.#lines = parseJobLines(lines) ?? { failures: true, share: 0 };
  }

  /** Whether anything but failures may be told at all. */
  get logsAny(): boolean {
    return this.#lines.share > 0;
  }

  logs(jobId: string): boolean {
    return isInShare(jobId, this.#lines.share);
  }

  /** The usual way of things. */
  info(facts: JobFacts, event: string, more: object = {}): void {
    if (this.logs(facts.jobId)) this.#log.info({ ...fieldsOf(facts), ...more }, event);
  }

  /** An attempt that failed; worth a warning unless it will simply be made again. */
  failure(facts: JobFacts, event: string, more: object, level: 'info' | 'warn' = 'warn'): void {
    if (this.#lines.failures) this.#log[level]({ ...fieldsOf(facts), ...more }, event);
  }
}

/** As they are named in the log, for other lines about a job. */
export function fieldsOf({ jobId, attempt, definition, tenant, traceparent }: JobFacts): object {
  return { jobId, attempt, definition, tenant, traceId: traceIdOf(traceparent) };
}
