import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { WebhookView } from '../../../../src/core/webhook/webhook.ts';
import { isFailing } from '../../../../src/core/problems/webhook-problems.ts';
import { webhooksQuery } from '../../api/admin-queries.ts';
import { Allowed } from '../../parts/allowed.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Rows } from '../../parts/rows.tsx';
import { Empty, Screen, Waiting } from '../../parts/screen.tsx';
import { shownOnce } from '../../parts/shown-once.tsx';
import { type MadeWebhook, NewWebhook } from './new-webhook.tsx';

const TONES = { active: 'good', paused: 'warn', disabled: 'bad' } as const;

/** Webhooks and their delivery state. */
export function WebhooksScreen() {
  const { data: webhooks, error } = useQuery(webhooksQuery());
  const [making, setMaking] = useState(false);
  return (
    <Screen
      title="Webhooks"
      actions={
        <Allowed scope="operate">
          <button type="button" className="primary" onClick={() => setMaking(true)}>
            Add webhook…
          </button>
        </Allowed>
      }
    >
      {webhooks === undefined ? (
        <Waiting error={error} />
      ) : webhooks.length === 0 ? (
        <Empty title="No webhooks yet.">
          <p>A webhook is sent a signed request when a job has failed, or whatever you choose.</p>
        </Empty>
      ) : (
        <WebhookTable webhooks={webhooks} />
      )}
      {making && <NewWebhook onMade={showSecret} onClose={() => setMaking(false)} />}
    </Screen>
  );
}

function showSecret({ secret }: MadeWebhook): void {
  const text = 'The receiver uses it to verify that a request comes from this server.';
  shownOnce.open({ title: 'Webhook secret', secret, text });
}

function WebhookTable({ webhooks }: { webhooks: readonly WebhookView[] }) {
  return (
    <Rows
      caption="Webhooks"
      rows={webhooks}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Webhook',
          titled: 'in-head',
          cell: ({ id, url, description }) => (
            <>
              <Link
                to="/webhooks/$webhookId"
                params={{ webhookId: id }}
                className="row-link whole-word"
                data-row
              >
                {url}
              </Link>
              {description !== null && <span className="summary">{description}</span>}
            </>
          ),
        },
        {
          title: 'State',
          titled: 'in-head',
          cell: (webhook) => <WebhookBadge webhook={webhook} />,
        },
        { title: 'Events', cell: ({ events }) => events.join(', ') },
        { title: 'Consecutive failures', kind: 'number', cell: ({ failures }) => failures },
        { title: 'Created', kind: 'short', cell: ({ createdAt }) => <Moment at={createdAt} /> },
      ]}
    />
  );
}

/** An active webhook whose deliveries fail is shown as failing. */
export function WebhookBadge({ webhook }: { webhook: WebhookView }) {
  const { status } = webhook;
  if (isFailing(webhook)) return <span className="badge tone-bad">failing</span>;
  return <span className={`badge tone-${TONES[status]}`}>{status}</span>;
}
