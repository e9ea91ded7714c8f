import {
  type Attributes,
  context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import type { Outcome } from '../core/job/lifecycle.ts';
import { traceContextOf, traceparentFrom } from '../core/values/trace-context.ts';

/**
 * Spans of jobs, through the OpenTelemetry API only. The operator brings an SDK; without one, no
 * spans are made. Enqueueing is a producer span; each attempt is a consumer span in a trace of its
 * own, linked to the producer, since it may run days later and many times. Names and attributes
 * follow the messaging conventions.
 */

const NAME = 'longshore';

/** Null when no SDK is registered. The API returns a proxy provider then. */
function activeTracer(): Tracer | null {
  const provider: { getDelegateTracer?(name: string): Tracer | undefined } & Pick<
    ReturnType<typeof trace.getTracerProvider>,
    'getTracer'
  > = trace.getTracerProvider();
  if (!provider.getDelegateTracer) return provider.getTracer(NAME);
  return provider.getDelegateTracer(NAME) ?? null;
}

interface Sent {
  definitionKey: string;
  tenant: string;
  traceparent: string | null;
}

/**
 * Stores jobs within one producer span, whose context they keep. Without an SDK they keep the
 * context that the caller sent.
 */
export async function sending<Job extends Sent, Answer extends { jobId: string }>(
  jobs: readonly Job[],
  store: (jobs: readonly Job[]) => Promise<Answer[]>,
): Promise<Answer[]> {
  const tracer = activeTracer();
  const [first] = jobs;
  if (!tracer || !first) return await store(jobs);
  const span = tracer.startSpan(
    `send ${first.definitionKey}`,
    { kind: SpanKind.PRODUCER, attributes: sendAttributes(first, jobs.length) },
    parentOf(first.traceparent),
  );
  const traceparent = traceparentFrom(span.spanContext());
  const traced = jobs.map((job) => ({ ...job, traceparent }));
  try {
    const within = trace.setSpan(context.active(), span);
    const answers = await context.with(within, async () => await store(traced));
    const [only] = answers;
    if (answers.length === 1 && only) span.setAttribute('messaging.message.id', only.jobId);
    return answers;
  } catch (error) {
    fail(span, error instanceof Error ? error.name : 'unknown');
    throw error;
  } finally {
    span.end();
  }
}

/** The active span is nearer than the context of the request. */
function parentOf(traceparent: string | null) {
  const active = context.active();
  if (traceparent === null || trace.getSpan(active)) return active;
  const remote = { ...traceContextOf(traceparent), isRemote: true };
  return trace.setSpanContext(active, remote);
}

export interface AttemptFacts extends Sent {
  jobId: string;
  attempt: number;
  maxAttempts: number;
}

export interface AttemptSpan {
  /** For the process of the job, as the parent of its spans. */
  traceparent: string;
  end(outcome: Outcome): void;
}

/** Whether an SDK is registered. */
export function makesSpans(): boolean {
  return activeTracer() !== null;
}

/** Null when no SDK is registered. */
export function startAttempt(facts: AttemptFacts): AttemptSpan | null {
  const tracer = activeTracer();
  if (!tracer) return null;
  const span = tracer.startSpan(
    `process ${facts.definitionKey}`,
    {
      kind: SpanKind.CONSUMER,
      root: true,
      links: linksTo(facts.traceparent),
      attributes: {
        ...common(facts, 'process'),
        'messaging.message.id': facts.jobId,
        'longshore.attempt': facts.attempt,
        'longshore.max_attempts': facts.maxAttempts,
      },
    },
    ROOT_CONTEXT,
  );
  return {
    traceparent: traceparentFrom(span.spanContext()),
    end: (outcome) => {
      span.setAttribute('longshore.outcome', outcome.kind);
      if (outcome.kind === 'failure') fail(span, outcome.error.code);
      span.end();
    },
  };
}

/** Only the code: the message of an error may contain params. */
function fail(span: Span, code: string): void {
  span.setAttribute('error.type', code);
  span.setStatus({ code: SpanStatusCode.ERROR, message: code });
}

function linksTo(traceparent: string | null): Link[] {
  if (traceparent === null) return [];
  return [{ context: { ...traceContextOf(traceparent), isRemote: true } }];
}

function sendAttributes(job: Sent, count: number): Attributes {
  const batch = count > 1 ? { 'messaging.batch.message_count': count } : {};
  return { ...common(job, 'send'), ...batch };
}

function common({ definitionKey, tenant }: Sent, operation: string): Attributes {
  return {
    'messaging.system': NAME,
    'messaging.operation.type': operation,
    'messaging.operation.name': operation,
    'messaging.destination.name': definitionKey,
    'longshore.tenant': tenant,
  };
}
