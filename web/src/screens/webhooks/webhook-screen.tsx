import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { WebhookView } from '../../../../src/core/webhook/webhook.ts';
import { webhookQuery } from '../../api/admin-queries.ts';
import { Moment } from '../../parts/moment.tsx';
import { Facts, Panel } from '../../parts/panel.tsx';
import { Screen, Waiting } from '../../parts/screen.tsx';
import { atLeast } from '../../words/jobs/bulk-words.ts';
import { plainText } from '../../words/jobs/log-tail.ts';
import { DeliveryList } from './delivery-list.tsx';
import { WebhookActions } from './webhook-actions.tsx';
import { WebhookBadge } from './webhooks-screen.tsx';

const route = getRouteApi('/webhooks/$webhookId');

export function WebhookScreen() {
  const { webhookId } = route.useParams();
  const { cursor } = route.useSearch();
  const { data: webhook, error } = useQuery(webhookQuery(webhookId));
  if (!webhook) {
    return (
      <Screen title="Webhook">
        <Waiting error={error} />
      </Screen>
    );
  }
  return (
    <Screen
      title="Webhook"
      heading={
        <>
          <WebhookBadge webhook={webhook} />
          {webhook.url}
        </>
      }
      actions={<WebhookActions webhook={webhook} />}
    >
      {webhook.notice !== null && (
        <div className="notice warn">
          <p>{plainText(webhook.notice)}</p>
        </div>
      )}
      <div className="columns">
        <div>
          <DeliveryList webhookId={webhookId} cursor={cursor} />
        </div>
        <div>
          <About webhook={webhook} />
        </div>
      </div>
    </Screen>
  );
}

function About({ webhook }: { webhook: WebhookView }) {
  const { lastError, waitingEvents } = webhook;
  const { events, definitionKeys, tags, failures, failingSince, previousSecretUntil } = webhook;
  return (
    <Panel title="About">
      <Facts
        facts={[
          ['Id', <code className="whole-id">{webhook.id}</code>],
          ['Format', webhook.format],
          ['Description', webhook.description],
          ['Events', events.join(', ')],
          ['Definitions', definitionKeys === null ? 'all definitions' : definitionKeys.join(', ')],
          ['Tags', tags?.join(', ')],
          ['Consecutive failures', failures === 0 ? null : failures],
          ['Last error', failures === 0 || lastError === null ? null : plainText(lastError)],
          ['Waiting events', waitingEvents && atLeast(waitingEvents.count, waitingEvents.isExact)],
          ['Failing since', failingSince && <Moment at={failingSince} />],
          ['Old secret valid until', previousSecretUntil && <Moment at={previousSecretUntil} />],
          ['Created', <Moment at={webhook.createdAt} />],
        ]}
      />
    </Panel>
  );
}
