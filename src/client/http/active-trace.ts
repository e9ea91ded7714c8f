import {
  type TraceContext,
  traceparentFrom,
  traceparentOf,
} from '../../core/values/trace-context.ts';

/** Every copy of `@opentelemetry/api` 1.x shares this global and this key of the active span. */
const API = Symbol.for('opentelemetry.js.api.1');
const SPAN = Symbol.for('OpenTelemetry Context Key SPAN');

interface Api {
  context?: { active(): { getValue(key: symbol): { spanContext(): TraceContext } | undefined } };
}

/**
 * The traceparent of the active span; null when there is none. It reads the global of OpenTelemetry
 * itself, because most processes that import the client trace nothing and need not load the package.
 */
export function activeTraceparent(): string | null {
  const api = (globalThis as { [API]?: Api })[API];
  const open = api?.context?.active().getValue(SPAN)?.spanContext();
  return open ? traceparentOf(traceparentFrom(open)) : null;
}
