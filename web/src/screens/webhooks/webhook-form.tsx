import {
  WEBHOOK_EVENTS,
  WEBHOOK_FORMATS,
  type WebhookFormat,
} from '../../../../src/core/webhook/webhook.ts';
import { Choices } from '../../parts/choices.tsx';
import type { WebhookDraft } from '../../words/alerts/webhook-draft.ts';

/** The fields of a webhook, for a new one and for an existing one. */
export function WebhookForm({
  draft,
  wrong,
  onChange,
}: {
  draft: WebhookDraft;
  wrong: string | null;
  onChange: (draft: WebhookDraft) => void;
}) {
  const { url, format, description, events, keys } = draft;
  return (
    <>
      <label className="field">
        <span>URL</span>
        <input
          type="url"
          value={url}
          placeholder="https://…"
          autoComplete="off"
          onChange={(event) => onChange({ ...draft, url: event.target.value })}
        />
      </label>
      <label className="field">
        <span>Format</span>
        <select
          value={format}
          onChange={(event) => onChange({ ...draft, format: event.target.value as WebhookFormat })}
        >
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
          onChange={(event) => onChange({ ...draft, description: event.target.value })}
        />
      </label>
      <Choices
        legend="Events"
        names={WEBHOOK_EVENTS}
        chosen={events}
        onChange={(chosen) => onChange({ ...draft, events: chosen })}
      />
      <label className="field">
        <span>Only for these definitions</span>
        <input
          value={keys}
          placeholder="all"
          autoComplete="off"
          onChange={(event) => onChange({ ...draft, keys: event.target.value })}
        />
      </label>
      <p role="alert" className="wrong">
        {wrong}
      </p>
    </>
  );
}
