import { useState } from 'react';
import {
  WEBHOOK_EVENTS,
  WEBHOOK_FORMATS,
  type WebhookEvent,
  type WebhookFormat,
} from '../../../../src/core/webhook/webhook.ts';
import { call } from '../../api/call.ts';
import { refusalText } from '../../api/problem-error.ts';
import { useChange } from '../../api/use-change.ts';
import { Ask } from '../../parts/ask.tsx';
import { Choices } from '../../parts/choices.tsx';

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
  const [url, setUrl] = useState('');
  const [format, setFormat] = useState<WebhookFormat>('cloudevents');
  const [description, setDescription] = useState('');
  const [events, setEvents] = useState<WebhookEvent[]>(['job.failed']);
  const [keys, setKeys] = useState('');
  const [wrong, setWrong] = useState<string | null>(null);
  const make = useChange(
    async () => {
      const definitionKeys = keys.split(/[\s,]+/).filter(Boolean);
      return await call<MadeWebhook>('POST', '/v1/webhooks', {
        body: {
          url: url.trim(),
          events,
          format,
          description: description.trim() || null,
          definitionKeys: definitionKeys.length === 0 ? null : definitionKeys,
        },
      });
    },
    (made) => {
      onMade(made);
      onClose();
      return null;
    },
    { inForm: true },
  );
  const confirm = () => {
    if (url.trim() === '' || events.length === 0) {
      setWrong('Enter a URL and choose at least one event.');
    } else {
      // Stays open until the server accepts it, so that a rejected form is not lost.
      make.mutate(undefined, { onError: (error) => setWrong(refusalText(error)) });
    }
    return 'stay' as const;
  };
  return (
    <Ask title="Add webhook" confirm="Create" tone="primary" onConfirm={confirm} onClose={onClose}>
      <label className="field">
        <span>URL</span>
        <input
          type="url"
          value={url}
          placeholder="https://…"
          autoComplete="off"
          onChange={(event) => setUrl(event.target.value)}
        />
      </label>
      <label className="field">
        <span>Format</span>
        <select value={format} onChange={(event) => setFormat(event.target.value as WebhookFormat)}>
          {WEBHOOK_FORMATS.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      <label className="field">
        <span>Description</span>
        <input
          value={description}
          maxLength={500}
          onChange={(event) => setDescription(event.target.value)}
        />
      </label>
      <Choices legend="Events" names={WEBHOOK_EVENTS} chosen={events} onChange={setEvents} />
      <label className="field">
        <span>Only for these definitions</span>
        <input
          value={keys}
          placeholder="all"
          autoComplete="off"
          onChange={(event) => setKeys(event.target.value)}
        />
      </label>
      <p role="alert" className="wrong">
        {wrong}
      </p>
    </Ask>
  );
}
