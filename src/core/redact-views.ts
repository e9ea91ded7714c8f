import type { JobError, JobView } from './job.ts';
import type { Redactor } from './redact.ts';
import type { ScheduleView } from './schedule.ts';
import type { AttemptView, EventView, LogView } from './story.ts';

/** What the API shows, without its secrets. */

export function redactJob(job: JobView, redactor: Redactor): JobView {
  const { params, result, error, progress } = job;
  return {
    ...job,
    params: redactor.value(params),
    result: redactor.value(result),
    error: redactError(error, redactor),
    progress: progress && { ...progress, message: textOf(progress.message, redactor) },
  };
}

export function redactAttempt(attempt: AttemptView, redactor: Redactor): AttemptView {
  return { ...attempt, error: redactError(attempt.error, redactor) };
}

export function redactEvent(event: EventView, redactor: Redactor): EventView {
  return { ...event, payload: redactor.value(event.payload) };
}

export function redactLog(line: LogView, redactor: Redactor): LogView {
  return { ...line, message: redactor.text(line.message) };
}

export function redactSchedule(schedule: ScheduleView, redactor: Redactor): ScheduleView {
  return { ...schedule, params: redactor.value(schedule.params) };
}

function redactError(error: JobError | null, redactor: Redactor): JobError | null {
  if (error === null) return null;
  const { code, message, stack, cause } = error;
  return {
    code,
    message: redactor.text(message),
    stack: textOf(stack, redactor),
    cause: redactError(cause ?? null, redactor),
  };
}

function textOf(text: string | null, redactor: Redactor): string | null {
  return text === null ? null : redactor.text(text);
}
