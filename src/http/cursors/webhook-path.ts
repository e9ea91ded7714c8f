import { isJobId } from '../../core/job/job-id.ts';
import { Refusal } from '../../protocol/refusal.ts';

/** A malformed id gets the same 404 as an unknown one. Ids have the format of job ids. */
export function webhookIdOf(text: string): string {
  return isJobId(text) ? text : noSuchWebhook(text);
}

export function noSuchWebhook(id: string): never {
  throw new Refusal('NOT_FOUND', `webhook ${JSON.stringify(id.slice(0, 60))} not found`);
}
