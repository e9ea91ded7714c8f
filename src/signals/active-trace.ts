import { context, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { traceContextOf, traceparentFrom } from '../core/values/trace-context.ts';

/** Runs work within this trace context, as the parent of its spans. */
export async function atTraceContext<T>(traceparent: string, work: () => Promise<T>): Promise<T> {
  const remote = { ...traceContextOf(traceparent), isRemote: true };
  return await context.with(trace.setSpanContext(ROOT_CONTEXT, remote), work);
}

/** The traceparent of the active span; null when there is none. */
export function activeTraceparent(): string | null {
  const open = trace.getActiveSpan()?.spanContext();
  return open && trace.isSpanContextValid(open) ? traceparentFrom(open) : null;
}
