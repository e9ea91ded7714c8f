import { isWaitStep } from '../job/signal.ts';
import { errorSummary } from '../failure/error-summary.ts';
import type { JobError, JobView } from '../job/job.ts';
import type { Redactor } from './redact.ts';
import type { ScheduleView } from '../schedule/schedule.ts';
import type { AttemptView, EventView, LogView, StepsView, StreamView } from '../views/history.ts';

/** Removes secrets from the views that the API shows. */

export function redactJob(job: JobView, redactor: Redactor): JobView {
  const { params, result, progress } = job;
  const error = job.error && redactError(job.error, redactor);
  return {
    ...job,
    params: redactor.value(params),
    result: redactor.value(result),
    error,
    errorSummary: errorSummary(error),
    progress: progress && { ...progress, message: textOf(progress.message, redactor) },
  };
}

export function redactAttempt(attempt: AttemptView, redactor: Redactor): AttemptView {
  const { error } = attempt;
  return { ...attempt, error: error && redactError(error, redactor) };
}

export function redactSteps(view: StepsView, redactor: Redactor): StepsView {
  const { steps, checkpoint } = view;
  return {
    ...view,
    // What a wait stored is a time and a schema: names of fields, no values.
    steps: steps.map((step) =>
      isWaitStep(step.name) ? step : { ...step, value: redactor.value(step.value) },
    ),
    checkpoint: checkpoint && { ...checkpoint, value: redactor.value(checkpoint.value) },
  };
}

export function redactEvent(event: EventView, redactor: Redactor): EventView {
  return { ...event, payload: redactor.value(event.payload) };
}

export function redactLog(line: LogView, redactor: Redactor): LogView {
  return { ...line, message: redactor.text(line.message) };
}

export function redactStream(entry: StreamView, redactor: Redactor): StreamView {
  return entry.text === null ? entry : { ...entry, text: redactor.text(entry.text) };
}

export function redactSchedule(schedule: ScheduleView, redactor: Redactor): ScheduleView {
  return { ...schedule, params: redactor.value(schedule.params) };
}

export function redactError(error: JobError, redactor: Redactor): JobError {
  const { code, message, stack, cause, step } = error;
  return {
    code,
    message: redactor.text(message),
    stack: textOf(stack, redactor),
    cause: cause ? redactError(cause, redactor) : null,
    ...(step && { step: { ...step, name: redactor.text(step.name) } }),
  };
}

function textOf(text: string | null, redactor: Redactor): string | null {
  return text === null ? null : redactor.text(text);
}
