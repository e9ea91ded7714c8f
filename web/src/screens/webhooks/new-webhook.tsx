import { useState } from 'react';
import { call } from '../../api/call.ts';
import { useAsked } from '../../api/use-change.ts';
import { Ask } from '../../parts/ask.tsx';
import { bodyOf, draftProblem, NEW_WEBHOOK } from '../../words/alerts/webhook-draft.ts';
import { WebhookForm } from './webhook-form.tsx';

export interface MadeWebhook {
  id: string;
  secret: string;
}

export function NewWebhook({
  onMade,
  onClose,
}: {
  onMade: (made: MadeWebhook) => void;
  onClose: () => void;
}) {
  const [draft, setDraft] = useState(NEW_WEBHOOK);
  const [wrong, setWrong] = useState<string | null>(null);
  const make = useAsked(
    async () => await call<MadeWebhook>('POST', '/v1/webhooks', { body: bodyOf(draft) }),
    (made) => {
      onMade(made);
      return null;
    },
  );
  const confirm = () => {
    const problem = draftProblem(draft);
    setWrong(problem);
    return problem === null ? make(undefined) : ('stay' as const);
  };
  return (
    <Ask title="Add webhook" confirm="Create" tone="primary" onConfirm={confirm} onClose={onClose}>
      <WebhookForm draft={draft} wrong={wrong} onChange={setDraft} />
    </Ask>
  );
}
