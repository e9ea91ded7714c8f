import { isJobId } from '../../core/job/job-id.ts';
import { Refusal } from '../../protocol/refusal.ts';

/** An id that cannot be one is answered like one that is not there. Ids are made like those of jobs. */
export function webhookIdOf(text: string): string {
  return isJobId(text) ? text : noSuchWebhook(text);
}

export function noSuchWebhook(id: string): never {
  throw new Refusal('NOT_FOUND', `there is no webhook ${JSON.stringify(id.slice(0, 60))}`);
}
