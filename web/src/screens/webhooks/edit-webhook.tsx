import { useState } from 'react';
import type { WebhookView } from '../../../../src/core/webhook/webhook.ts';
import { call } from '../../api/call.ts';
import { useAsked } from '../../api/use-change.ts';
import { Ask } from '../../parts/ask.tsx';
import { changeOf, draftOf, draftProblem } from '../../words/alerts/webhook-draft.ts';
import { WebhookForm } from './webhook-form.tsx';

/** The button that opens the form of an existing webhook. Its secret stays. */
export function EditWebhook({ webhook }: { webhook: WebhookView }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Edit…
      </button>
      {open && <EditDialog webhook={webhook} onClose={() => setOpen(false)} />}
    </>
  );
}

function EditDialog({ webhook, onClose }: { webhook: WebhookView; onClose: () => void }) {
  // The form keeps what is typed while the page reads the webhook again.
  const [before] = useState(webhook);
  const [draft, setDraft] = useState(() => draftOf(before));
  const [wrong, setWrong] = useState<string | null>(null);
  const save = useAsked(
    async () =>
      await call<WebhookView>('PATCH', `/v1/webhooks/${before.id}`, {
        body: changeOf(draft, before),
      }),
    () => 'Webhook saved.',
  );
  const confirm = () => {
    const problem = draftProblem(draft);
    setWrong(problem);
    if (problem !== null) return 'stay' as const;
    if (Object.keys(changeOf(draft, before)).length === 0) return 'close' as const;
    return save(undefined);
  };
  return (
    <Ask title="Edit webhook" confirm="Save" tone="primary" onConfirm={confirm} onClose={onClose}>
      <WebhookForm draft={draft} wrong={wrong} onChange={setDraft} />
      <p className="soft">Pending deliveries go to the new URL. The secret stays.</p>
    </Ask>
  );
}
