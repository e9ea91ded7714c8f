import { context, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { traceContextOf, traceparentFrom } from '../core/values/trace-context.ts';

/** Runs something at this place of a trace, so that its own spans hang below. */
export async function atTraceContext<T>(traceparent: string, work: () => Promise<T>): Promise<T> {
  const remote = { ...traceContextOf(traceparent), isRemote: true };
  return await context.with(trace.setSpanContext(ROOT_CONTEXT, remote), work);
}

/** The place of the span that is open right now; null when there is none. */
export function activeTraceparent(): string | null {
  const open = trace.getActiveSpan()?.spanContext();
  return open && trace.isSpanContextValid(open) ? traceparentFrom(open) : null;
}
