import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { WebhookView } from '../../../../src/core/webhook.ts';
import { webhooksQuery } from '../../api/admin-queries.ts';
import { Moment } from '../../parts/moment.tsx';
import { Empty, Screen, Waiting } from '../../parts/screen.tsx';
import { ShownOnce } from '../../parts/shown-once.tsx';
import { type MadeWebhook, NewWebhook } from './new-webhook.tsx';

const TONES = { active: 'good', paused: 'warn', disabled: 'bad' } as const;

/** Who is told what becomes of jobs, and whether it arrives. */
export function WebhooksScreen() {
  const { data: webhooks, error } = useQuery(webhooksQuery());
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState<MadeWebhook | null>(null);
  return (
    <Screen
      title="Webhooks"
      actions={
        <button type="button" className="primary" onClick={() => setMaking(true)}>
          Make a webhook…
        </button>
      }
    >
      {webhooks === undefined ? (
        <Waiting error={error} />
      ) : webhooks.length === 0 ? (
        <Empty title="No other server is told anything.">
          <p>A webhook is sent a signed request when a job has failed, or whatever you choose.</p>
        </Empty>
      ) : (
        <WebhookTable webhooks={webhooks} />
      )}
      {making && <NewWebhook onMade={setMade} onClose={() => setMaking(false)} />}
      {made !== null && (
        <ShownOnce title="The secret" secret={made.secret} onClose={() => setMade(null)}>
          The receiver verifies with it that a request comes from here.
        </ShownOnce>
      )}
    </Screen>
  );
}

function WebhookTable({ webhooks }: { webhooks: readonly WebhookView[] }) {
  return (
    <div className="scroll">
      <table className="rows">
        <caption className="visually-hidden">Webhooks</caption>
        <thead>
          <tr>
            <th scope="col">Webhook</th>
            <th scope="col">State</th>
            <th scope="col">Is told of</th>
            <th scope="col" className="number">
              Failed in a row
            </th>
            <th scope="col">Made</th>
          </tr>
        </thead>
        <tbody>
          {webhooks.map((webhook) => (
            <tr key={webhook.id}>
              <td>
                <Link
                  to="/webhooks/$webhookId"
                  params={{ webhookId: webhook.id }}
                  className="row-link"
                  data-row
                >
                  {webhook.url}
                </Link>
                {webhook.description !== null && (
                  <span className="summary">{webhook.description}</span>
                )}
              </td>
              <td>
                <WebhookBadge webhook={webhook} />
              </td>
              <td>{webhook.events.join(', ')}</td>
              <td className="number">{webhook.failures}</td>
              <td className="nowrap">
                <Moment at={webhook.createdAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function WebhookBadge({ webhook: { status } }: { webhook: WebhookView }) {
  return <span className={`badge tone-${TONES[status]}`}>{status}</span>;
}
