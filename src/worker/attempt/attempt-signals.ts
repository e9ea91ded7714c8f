import type { Transition } from '../../core/job/lifecycle.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { fieldsOf, type JobFacts, JobLog } from '../../signals/job-log.ts';
import { type AttemptSpan, makesSpans, startAttempt } from '../../signals/spans.ts';
import type { NewLine } from './attempt-journal.ts';
import type { Ended, Execution } from './execution.ts';

/** Log lines and spans of attempts. */
export class AttemptSignals {
  readonly #clock: Clock;
  readonly #jobLog: JobLog;
  readonly #spans = new Map<Execution, AttemptSpan>();

  constructor(clock: Clock, log: Log, logJobs?: string) {
    this.#clock = clock;
    this.#jobLog = new JobLog(log, logJobs);
  }

  claimed(execution: Execution): void {
    if (!this.#jobLog.logs(execution.job.id)) return;
    this.#jobLog.info(factsOf(execution), 'job.claimed');
  }

  /** Before the code of the job runs. */
  begun(execution: Execution): void {
    execution.startedMs = this.#clock.monotonicMs();
    if (!makesSpans()) return;
    const { job, tenant, definition, traceparent } = execution;
    const { id: jobId, attempts: attempt, maxAttempts } = job;
    const facts = { jobId, attempt, maxAttempts, tenant, definitionKey: definition.key };
    const span = startAttempt({ ...facts, traceparent });
    if (!span) return;
    this.#spans.set(execution, span);
    execution.traceparent = span.traceparent;
  }

  /** A line that the job writes. */
  output(execution: Execution, { level, message }: Pick<NewLine, 'level' | 'message'>): void {
    if (!this.#jobLog.logsOutput(execution.job.id)) return;
    this.#jobLog.info(factsOf(execution), 'job.log', { lineLevel: level, message });
  }

  /** The attempt has ended; the next state of the job is not decided yet. */
  ended(execution: Execution, { outcome }: Ended): void {
    if (execution.startedMs === null) return;
    execution.durationMs = Math.round(this.#clock.monotonicMs() - execution.startedMs);
    this.#spans.get(execution)?.end(outcome);
    this.#spans.delete(execution);
  }

  /** The transition is written. One interruption too many is also a failure. */
  settled(
    execution: Execution,
    { outcome }: Ended,
    { to: next, error }: Pick<Transition, 'to' | 'error'>,
  ): void {
    if (next === 'cancelled') return this.#log(execution, 'job.cancelled', outcome.kind);
    if (next === 'succeeded') return this.#log(execution, 'job.succeeded');
    if (outcome.kind !== 'failure' && next !== 'failed') {
      return this.#log(execution, 'job.returned', outcome.kind);
    }
    const more = { code: error?.code, durationMs: execution.durationMs, next };
    const level = next === 'failed' ? 'warn' : 'info';
    this.#jobLog.failure(factsOf(execution), 'job.failed', more, level, error ?? null);
  }

  #log(execution: Execution, event: string, reason?: string): void {
    if (!this.#jobLog.logs(execution.job.id)) return;
    const { durationMs } = execution;
    this.#jobLog.info(factsOf(execution), event, { durationMs, reason });
  }
}

/** The fields of every log line about an attempt. */
export function lineFields(execution: Execution): object {
  return fieldsOf(factsOf(execution));
}

function factsOf({ job, definition, tenant, traceparent }: Execution): JobFacts {
  const { id: jobId, attempts: attempt } = job;
  return { jobId, attempt, definition: definition.key, tenant, traceparent };
}
