/**
 * W3C Trace Context: the header `traceparent` is the version, the trace id, the span id and flags,
 * in hex.
 */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

export interface TraceContext {
  traceId: string;
  spanId: string;
  traceFlags: number;
}

/**
 * The context that a caller sent; null when malformed, as the standard requires. A caller whose
 * HTTP client is also traced may send two; the last one is the nearest.
 */
export function traceparentOf(header: string | readonly string[] | undefined): string | null {
  if (header === undefined) return null;
  const given = typeof header === 'string' ? header.split(',') : header;
  const known = given.map((one) => one.trim()).filter((one) => TRACEPARENT.test(one));
  return known.at(-1) ?? null;
}

export function traceContextOf(traceparent: string): TraceContext {
  const [, traceId = '', spanId = '', flags = '00'] = traceparent.split('-');
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) };
}

export function traceparentFrom({ traceId, spanId, traceFlags }: TraceContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

export function traceIdOf(traceparent: string | null): string | undefined {
  return traceparent?.slice(3, 35);
}
