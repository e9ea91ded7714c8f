import type { AlertView } from '../alert/alert.ts';
import { isTerminal, type JobError, type JobState, type JobView } from '../job/job.ts';
import { utf8Length } from '../job/params.ts';
import { type DeliveryEvent, TEST_EVENT } from './webhook.ts';

/** The params of a delivery: the facts of the job in the statement that made the delivery. */
export interface DeliveryParams {
  webhookId: string;
  event: DeliveryEvent;
  jobId: string | null;
  at: string;
  status?: JobState;
  attempts?: number;
  runAt?: string | null;
  error?: JobError | null;
  /** The alert when it fired or was resolved. */
  alert?: AlertView;
  /** Requested by hand, so it is sent even to a paused webhook. */
  byHand?: true;
  redeliveryOf?: string;
  /** The body of an earlier delivery, to be sent again unchanged. */
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
  /** An extension attribute: params and result were too large to send. */
  truncated?: true;
  data: unknown;
}

const EVENT_MAX_BYTES = 262_144;

/**
 * The job at the time of the event: read from the current job, with the facts of the delivery where
 * they differ.
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

/** `job` is the redacted view of the API. */
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
