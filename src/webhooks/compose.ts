import { redactJob } from '../core/access/redact-views.ts';
import { Redactor } from '../core/access/redact.ts';
import { TEST_EVENT } from '../core/webhook/webhook.ts';
import {
  alertEvent,
  type CloudEvent,
  type DeliveryParams,
  jobEvent,
  jobThen,
  testEvent,
} from '../core/webhook/webhook-event.ts';
import type { DeliveryReads } from './delivery-reads.ts';
import type { RedactPaths } from './redact-paths.ts';

/**
 * Builds the body, once per delivery: a retry repeats it exactly. Null when the job does not exist.
 */
export async function compose(
  jobs: Pick<DeliveryReads, 'job'>,
  redactPaths: RedactPaths,
  deliveryId: string,
  tenant: string,
  delivery: DeliveryParams,
): Promise<CloudEvent | null> {
  if (delivery.event === TEST_EVENT) return testEvent(deliveryId, delivery, tenant);
  if (delivery.alert) return alertEvent(deliveryId, delivery, delivery.alert);
  const job = await jobs.job(tenant, delivery.jobId ?? '');
  if (!job) return null;
  const paths = (await redactPaths.get()).get(job.definitionKey);
  const shown = redactJob(jobThen(job, delivery), new Redactor(paths, job.params));
  return jobEvent(deliveryId, delivery, shown);
}
