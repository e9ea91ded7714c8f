import type { AlertView } from '../alert/alert.ts';
import type { JobView } from '../job/job.ts';
import { type Chat, chatBody, chatEscape, type ChatMessage } from './chat.ts';
import type { CloudEvent } from './webhook-event.ts';

/** An event as a message for people in a chat. */
export function chatEvent(chat: Chat, event: CloudEvent): object {
  const { subject, text } = messageOf(event);
  const escape = (value: string) => chatEscape(chat, value);
  return chatBody(chat, { subject: subject && escape(subject), text: escape(text) });
}

function messageOf({ type, data, subject }: CloudEvent): ChatMessage {
  const event = type.replace('dev.longshore.', '');
  if (event === 'webhook.test') {
    return { subject: 'Test', text: 'Longshore can send messages here.' };
  }
  if (event.startsWith('alert.')) return ofAlert(data as AlertView);
  const job = data as JobView;
  const owner = job.owner === null ? '' : `\nowner: ${job.owner}`;
  const attempts = `attempt ${job.attempts} of ${job.maxAttempts}`;
  const error = job.errorSummary === null ? '' : `\n${job.errorSummary}`;
  return {
    subject: `${job.definitionKey} ${event.replace('job.', '')}`,
    text: `job ${subject}, ${attempts}${error}${owner}`,
  };
}

function ofAlert({ status, rule, definitionKey, message }: AlertView): ChatMessage {
  const about = definitionKey === null ? '' : `: ${definitionKey}`;
  return status === 'resolved'
    ? { subject: `Resolved: ${rule}${about}`, text: message }
    : { subject: `Alert: ${rule}${about}`, text: message };
}
