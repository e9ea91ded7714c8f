import { useNavigate } from '@tanstack/react-router';
import type { WebhookView } from '../../../../src/core/webhook/webhook.ts';
import { call } from '../../api/call.ts';
import { useChange } from '../../api/use-change.ts';
import { AskButton } from '../../parts/ask.tsx';
import { shownOnce } from '../../parts/shown-once.tsx';
import { EditWebhook } from './edit-webhook.tsx';
import type { MadeWebhook } from './new-webhook.tsx';

export function WebhookActions({ webhook }: { webhook: WebhookView }) {
  const { id, status } = webhook;
  const navigate = useNavigate();
  const path = `/v1/webhooks/${id}`;
  const test = useChange(
    async () => await call<object>('POST', `${path}/test`),
    () => 'Test delivery queued.',
  );
  const change = useChange(
    async (next: 'active' | 'paused') =>
      await call<WebhookView>('PATCH', path, { body: { status: next } }),
    (_, next) => (next === 'active' ? 'Webhook resumed.' : 'Webhook paused.'),
  );
  const rotate = useChange(
    async () => await call<MadeWebhook>('POST', `${path}/rotate`, { body: {} }),
    ({ secret }) => {
      const text = 'Configure it in the receiver within 24 hours.';
      shownOnce.open({ title: 'New webhook secret', secret, text });
      return null;
    },
  );
  const remove = useChange(
    async () => await call<null>('DELETE', path),
    () => {
      void navigate({ to: '/webhooks' });
      return 'Webhook deleted.';
    },
  );
  return (
    <>
      <button type="button" onClick={() => test.mutate(undefined)}>
        Send test
      </button>
      <EditWebhook webhook={webhook} />
      {status === 'active' ? (
        <AskButton
          label="Pause…"
          title="Pause this webhook?"
          confirm="Pause webhook"
          onConfirm={() => change.mutate('paused')}
        >
          <p>
            New events are dropped until it is resumed. Deliveries that are due meanwhile fail; send
            them again afterwards.
          </p>
        </AskButton>
      ) : (
        <button type="button" onClick={() => change.mutate('active')}>
          Resume
        </button>
      )}
      <AskButton
        label="Rotate secret…"
        title="Rotate the secret?"
        confirm="Create new secret"
        tone="primary"
        onConfirm={() => rotate.mutate(undefined)}
      >
        <p>Requests are signed with both secrets for 24 hours, so that the receiver can switch.</p>
      </AskButton>
      <AskButton
        label="Delete…"
        className="danger"
        title="Delete this webhook?"
        confirm="Delete webhook"
        onConfirm={() => remove.mutate(undefined)}
      >
        <p>Pending deliveries are dropped. This can’t be undone.</p>
      </AskButton>
    </>
  );
}
