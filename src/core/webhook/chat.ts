/** Messages of chats: what an incoming webhook of each accepts. */
export const CHATS = ['slack', 'discord', 'teams'] as const;
export type Chat = (typeof CHATS)[number];

export interface ChatMessage {
  subject: string | null;
  text: string;
}

const DISCORD_MAX = 2_000;

/** The body of a message whose values are escaped (`chatEscape`). */
export function chatBody(chat: Chat, { subject, text }: ChatMessage): object {
  if (chat === 'slack') return { text: titled(subject && `*${subject}*`, text) };
  if (chat === 'teams') return teamsBody(subject, text);
  return {
    content: titled(subject && `**${subject}**`, text).slice(0, DISCORD_MAX),
    // A text can neither mention people nor everyone.
    allowed_mentions: { parse: [] },
  };
}

/** Makes a value harmless: it can neither mention people, nor link, nor change the layout. */
export function chatEscape(chat: Chat, value: string): string {
  if (chat !== 'slack') return value.replaceAll(/[\\*_~`|>[\]()#<@]/g, String.raw`\$&`);
  // Slack reads these three signs as links and mentions.
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** An Adaptive Card, for a workflow of Teams that posts what it receives. */
function teamsBody(subject: string | null, text: string): object {
  const block = (content: string, more: object = {}) => ({
    type: 'TextBlock',
    text: content,
    wrap: true,
    ...more,
  });
  const heading = subject === null ? [] : [block(subject, { weight: 'Bolder', size: 'Medium' })];
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [...heading, block(text)],
  };
  const contentType = 'application/vnd.microsoft.card.adaptive';
  return { type: 'message', attachments: [{ contentType, content }] };
}

function titled(subject: string | null, text: string): string {
  return subject === null ? text : `${subject}\n${text}`;
}
