import type { AlertView } from './alert.ts';

/** The message with a capital, unless it begins with the key of its definition. */
export function alertSentence({
  message,
  definitionKey,
}: Pick<AlertView, 'message' | 'definitionKey'>): string {
  if (definitionKey !== null && message.startsWith(definitionKey)) return message;
  return `${message[0]?.toUpperCase() ?? ''}${message.slice(1)}`;
}
