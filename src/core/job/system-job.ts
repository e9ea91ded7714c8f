import { isSystemKey } from '../definition/hooks.ts';
import { ALERT_KEY } from '../alert/route.ts';
import { BATCH_KEY } from '../batch/batch.ts';
import { WEBHOOK_KEY } from '../webhook/webhook.ts';

/**
 * Longshore itself makes four kinds of jobs: webhook deliveries, messages about alerts, hooks and batches.
 * Their params say what happened. A caller who could edit them could forge that: a delivery would be
 * signed with the secret of the webhook, and a hook would run with a result that no job returned.
 */

/** Why a caller may not change a job of this definition; null when it may. */
export function changeRefusal(definitionKey: string, editsParams: boolean): string | null {
  if (definitionKey === WEBHOOK_KEY) {
    return (
      'a webhook delivery cannot be changed as a job: redeliver it with ' +
      'POST /v1/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver, or pause the webhook'
    );
  }
  if (editsParams && definitionKey === ALERT_KEY) {
    return 'the params of a message say which alerts it is about and cannot be edited: retry without params';
  }
  if (editsParams && definitionKey === BATCH_KEY) {
    return 'the params of a batch say what was asked for and cannot be edited: retry without params';
  }
  if (editsParams && isSystemKey(definitionKey)) {
    return 'the params of a hook say how its job ended and cannot be edited: retry without params';
  }
  return null;
}
