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
 * Spans of jobs, through the API of OpenTelemetry alone: whoever wants to see them brings an SDK, and where
 * there is none, nothing is made and nothing is paid for. Storing jobs is a producer span; each attempt is
 * a consumer span in a trace of its own, linked to where the job was made, since it may run days later and
 * many times. Names and attributes follow the conventions for messaging.
 */

const NAME = 'longshore';

/** Null when no SDK was registered. The provider that the API hands out stands for one to come. */
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
 * Stores jobs within a producer span, of which they remember the place. Without an SDK they remember what
 * the caller sent along. What is stored together has one span.
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

/** A span that is open here is nearer than what came with the request. */
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
  /** For the process of the job, whose own spans hang below. */
  traceparent: string;
  end(outcome: Outcome): void;
}

/** Null when nobody wants to see it. */
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

/** The message of an error may hold what the job was given, so that its code has to do. */
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
