import { useNavigate } from '@tanstack/react-router';
import type { WebhookView } from '../../../../src/core/webhook/webhook.ts';
import { call } from '../../api/call.ts';
import { useAsked, useChange } from '../../api/use-change.ts';
import { AskButton } from '../../parts/ask.tsx';
import { Icon } from '../../parts/icon.tsx';
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
  const pause = useAsked(
    async () => await call<WebhookView>('PATCH', path, { body: { status: 'paused' } }),
    () => 'Webhook paused.',
  );
  const resume = useChange(
    async () => await call<WebhookView>('PATCH', path, { body: { status: 'active' } }),
    () => 'Webhook resumed.',
  );
  const rotate = useAsked(
    async () => await call<MadeWebhook>('POST', `${path}/rotate`, { body: {} }),
    ({ secret }) => {
      const text = 'Configure it in the receiver within 24 hours.';
      shownOnce.open({ title: 'New webhook secret', secret, text });
      return null;
    },
  );
  const remove = useAsked(
    async () => await call<null>('DELETE', path),
    () => {
      void navigate({ to: '/webhooks' });
      return 'Webhook deleted.';
    },
  );
  return (
    <>
      <button type="button" disabled={test.isPending} onClick={() => test.mutate(undefined)}>
        Send test
      </button>
      <EditWebhook webhook={webhook} />
      {status === 'active' ? (
        <AskButton
          label={
            <>
              <Icon name="pause" />
              Pause…
            </>
          }
          title="Pause this webhook?"
          confirm="Pause webhook"
          onConfirm={() => pause(undefined)}
        >
          <p>
            New events are dropped until it is resumed. Deliveries that are due meanwhile fail; send
            them again afterwards.
          </p>
        </AskButton>
      ) : (
        <button type="button" onClick={() => resume.mutate(undefined)}>
          <Icon name="resume" />
          Resume
        </button>
      )}
      <AskButton
        label="Rotate secret…"
        title="Rotate the secret?"
        confirm="Create new secret"
        tone="primary"
        onConfirm={() => rotate(undefined)}
      >
        <p>Requests are signed with both secrets for 24 hours, so that the receiver can switch.</p>
      </AskButton>
      <AskButton
        label="Delete…"
        className="danger"
        title="Delete this webhook?"
        confirm="Delete webhook"
        onConfirm={() => remove(undefined)}
      >
        <p>Pending deliveries are dropped. This can’t be undone.</p>
      </AskButton>
    </>
  );
}
