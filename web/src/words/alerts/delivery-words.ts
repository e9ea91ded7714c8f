import { shortId } from '../../../../src/core/job/short-id.ts';
import type { DeliveryView } from '../../../../src/core/webhook/webhook.ts';

type About = Pick<DeliveryView, 'jobId' | 'request'>;

/** The job of a delivery: "mail.send 5a4f3c2e1400"; null if it is about no job. */
export function jobWords({ jobId, request }: About): string | null {
  if (jobId === null) return null;
  return `${definitionOf(request) ?? 'job'} ${shortId(jobId)}`;
}

/** The definition of the job, which events name; nothing is known of it before the first send. */
function definitionOf(request: unknown): string | null {
  const { data } = (request ?? {}) as { data?: { definitionKey?: unknown } | null };
  return typeof data?.definitionKey === 'string' ? data.definitionKey : null;
}
