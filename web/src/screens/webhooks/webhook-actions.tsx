import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { WebhookView } from '../../../../src/core/webhook/webhook.ts';
import { call } from '../../api/call.ts';
import { useChange } from '../../api/use-change.ts';
import { Ask } from '../../parts/ask.tsx';
import { shownOnce } from '../../parts/shown-once.tsx';
import type { MadeWebhook } from './new-webhook.tsx';

export function WebhookActions({ webhook: { id, status } }: { webhook: WebhookView }) {
  const navigate = useNavigate();
  const [asking, setAsking] = useState<'rotate' | 'delete' | null>(null);
  const path = `/v1/webhooks/${id}`;
  const test = useChange(
    async () => await call<object>('POST', `${path}/test`),
    () => 'A test is on its way.',
  );
  const change = useChange(
    async (next: 'active' | 'paused') =>
      await call<WebhookView>('PATCH', path, { body: { status: next } }),
    (_, next) => (next === 'active' ? 'It is told again.' : 'It is paused.'),
  );
  const rotate = useChange(
    async () => await call<MadeWebhook>('POST', `${path}/rotate`, { body: {} }),
    ({ secret }) => {
      const text = 'Give it to the receiver within a day.';
      shownOnce.open({ title: 'New webhook secret', secret, text });
      return null;
    },
  );
  const remove = useChange(
    async () => await call<null>('DELETE', path),
    () => {
      void navigate({ to: '/webhooks' });
      return 'The webhook is deleted.';
    },
  );
  return (
    <>
      <button type="button" onClick={() => test.mutate(undefined)}>
        Send a test
      </button>
      <button
        type="button"
        onClick={() => change.mutate(status === 'active' ? 'paused' : 'active')}
      >
        {status === 'active' ? 'Pause' : 'Resume'}
      </button>
      <button type="button" onClick={() => setAsking('rotate')}>
        Rotate the secret…
      </button>
      <button type="button" className="danger" onClick={() => setAsking('delete')}>
        Delete…
      </button>
      {asking === 'rotate' && (
        <Ask
          title="Rotate the secret?"
          confirm="Create a new secret"
          tone="primary"
          onConfirm={() => rotate.mutate(undefined)}
          onClose={() => setAsking(null)}
        >
          <p>For a day both secrets sign, so that the receiver can change over.</p>
        </Ask>
      )}
      {asking === 'delete' && (
        <Ask
          title="Delete this webhook?"
          confirm="Delete it"
          onConfirm={() => remove.mutate(undefined)}
          onClose={() => setAsking(null)}
        >
          <p>What waits to be sent is not sent any more. This can’t be undone.</p>
        </Ask>
      )}
    </>
  );
}
