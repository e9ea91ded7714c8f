import { traceContextOf } from '../core/values/trace-context.ts';

/**
 * Runs work within this trace context, as the parent of its spans. Most jobs are part of no trace,
 * and their process need not load the package.
 */
export async function atTraceContext<T>(traceparent: string, work: () => Promise<T>): Promise<T> {
  const { context, ROOT_CONTEXT, trace } = await import('@opentelemetry/api');
  const remote = { ...traceContextOf(traceparent), isRemote: true };
  return await context.with(trace.setSpanContext(ROOT_CONTEXT, remote), work);
}
