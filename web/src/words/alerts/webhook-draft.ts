import type {
  WebhookEvent,
  WebhookFormat,
  WebhookSpec,
} from '../../../../src/core/webhook/webhook.ts';

/** The form of a webhook. */
export interface WebhookDraft {
  url: string;
  format: WebhookFormat;
  description: string;
  events: WebhookEvent[];
  /** Keys of definitions, separated by commas or spaces; empty: all. */
  keys: string;
}

export const NEW_WEBHOOK: WebhookDraft = {
  url: '',
  format: 'cloudevents',
  description: '',
  events: ['job.failed'],
  keys: '',
};

export function draftOf(webhook: WebhookSpec): WebhookDraft {
  const { url, format, description, events, definitionKeys } = webhook;
  return {
    url,
    format,
    events,
    description: description ?? '',
    keys: (definitionKeys ?? []).join(', '),
  };
}

/** What the form lacks, for people; null if nothing. */
export function draftProblem({ url, events }: WebhookDraft): string | null {
  const isComplete = url.trim() !== '' && events.length > 0;
  return isComplete ? null : 'Enter a URL and choose at least one event.';
}

export type WebhookFields = Omit<WebhookSpec, 'tags'>;

export function bodyOf({ url, format, description, events, keys }: WebhookDraft): WebhookFields {
  const definitionKeys = keys.split(/[\s,]+/).filter(Boolean);
  return {
    url: url.trim(),
    events,
    format,
    description: description.trim() || null,
    definitionKeys: definitionKeys.length === 0 ? null : definitionKeys,
  };
}

/** Only what was edited, so that a change by another person meanwhile stays. */
export function changeOf(draft: WebhookDraft, before: WebhookSpec): Partial<WebhookFields> {
  const was: Record<string, unknown> = bodyOf(draftOf(before));
  const edited = Object.entries(bodyOf(draft)).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(was[name]),
  );
  return Object.fromEntries(edited);
}
