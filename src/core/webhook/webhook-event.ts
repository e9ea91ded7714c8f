import type { AlertView } from '../views/alert.ts';
import { isTerminal, type JobError, type JobState, type JobView } from '../job/job.ts';
import { utf8Length } from '../job/params.ts';
import { type DeliveryEvent, TEST_EVENT } from './webhook.ts';

/** The params of a delivery: what the statement that made it knew of the job at that moment. */
export interface DeliveryParams {
  webhookId: string;
  event: DeliveryEvent;
  jobId: string | null;
  at: string;
  status?: JobState;
  attempts?: number;
  runAt?: string | null;
  error?: JobError | null;
  /** The alert that fired or was resolved, as it was then. */
  alert?: AlertView;
  /** Somebody asked for it, so that it is sent to a webhook that is paused, too. */
  byHand?: true;
  redeliveryOf?: string;
  /** What was sent before, to be sent again to the letter. */
  envelope?: CloudEvent;
}

/** The body of a webhook: CloudEvents 1.0 in its structured mode. */
export interface CloudEvent {
  specversion: '1.0';
  id: string;
  source: string;
  type: string;
  subject: string;
  time: string;
  datacontenttype: 'application/json';
  /** An extension: the params and the result were too large to send along. */
  truncated?: true;
  data: unknown;
}

const EVENT_MAX_BYTES = 262_144;

/**
 * The job as it was when the event happened. It has gone on since, so what it is read from is the job of
 * now, and what the delivery was told counts where they differ.
 */
export function jobThen(now: JobView, delivery: DeliveryParams): JobView {
  const status = delivery.status ?? now.status;
  const at = new Date(delivery.at).toISOString();
  const same = now.status === status && now.attempts === delivery.attempts;
  return {
    ...now,
    status,
    attempts: delivery.attempts ?? now.attempts,
    result: status === 'succeeded' ? now.result : null,
    error: delivery.error ?? null,
    progress: same ? now.progress : null,
    runAt: delivery.runAt ? new Date(delivery.runAt).toISOString() : null,
    startedAt: status === 'running' && !same ? at : now.startedAt,
    finishedAt: isTerminal(status) ? at : null,
    updatedAt: at,
    heartbeatAt: same ? now.heartbeatAt : null,
    leaseExpiresAt: same ? now.leaseExpiresAt : null,
    cancelRequestedAt: same || isTerminal(status) ? now.cancelRequestedAt : null,
    workerId: same ? now.workerId : null,
  };
}

/** `job` is what the API would show: without its secrets. */
export function jobEvent(deliveryId: string, delivery: DeliveryParams, job: JobView): CloudEvent {
  const whole = envelope(deliveryId, delivery, job.tenant, job.jobId, job);
  if (utf8Length(JSON.stringify(whole), EVENT_MAX_BYTES) <= EVENT_MAX_BYTES) return whole;
  const { data: _data, ...rest } = whole;
  return { ...rest, truncated: true, data: { ...job, params: null, result: null } };
}

export function alertEvent(
  deliveryId: string,
  delivery: DeliveryParams,
  alert: AlertView,
): CloudEvent {
  return envelope(deliveryId, delivery, alert.tenant, alert.id, alert);
}

export function testEvent(
  deliveryId: string,
  delivery: DeliveryParams,
  tenant: string,
): CloudEvent {
  const data = { webhookId: delivery.webhookId };
  return envelope(deliveryId, { ...delivery, event: TEST_EVENT }, tenant, delivery.webhookId, data);
}

function envelope(
  id: string,
  { event, at }: DeliveryParams,
  tenant: string,
  subject: string,
  data: unknown,
): CloudEvent {
  return {
    specversion: '1.0',
    id,
    source: `urn:longshore:tenant:${tenant}`,
    type: `dev.longshore.${event}`,
    subject,
    time: new Date(at).toISOString(),
    datacontenttype: 'application/json',
    data,
  };
}
