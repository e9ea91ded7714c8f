import { type Chat, chatBody, chatEscape } from '../../core/webhook/chat.ts';
import { failureOf } from '../guarded-post.ts';
import { secretOf } from '../ready-job.ts';
import type { Channel, Message, Receipt, Sender } from './channel.ts';

/** `url` names the environment variable with the URL of the chat's incoming webhook: it is a secret. */
export interface ChatOptions {
  url: string;
}

export function slack({ url }: ChatOptions): Channel {
  return chatOf('slack', url);
}

export function discord({ url }: ChatOptions): Channel {
  return chatOf('discord', url);
}

/** A workflow of Teams that posts what it receives. */
export function teams({ url }: ChatOptions): Channel {
  return chatOf('teams', url);
}

/** Any other receiver: it gets `{ id, subject, text }`. */
export function chatWebhook({ url }: ChatOptions): Channel {
  return channel(url, ({ id, subject, text }) => ({ id, subject, text }));
}

function chatOf(chat: Chat, url: string): Channel {
  return channel(
    url,
    (message) => chatBody(chat, message),
    (value) => chatEscape(chat, value),
  );
}

function channel(
  url: string,
  bodyOf: (message: Message) => object,
  escape?: (value: string) => string,
): Channel {
  return {
    addressed: false,
    ...(escape && { escape }),
    send: async (message: Message, { post, signal }: Sender): Promise<Receipt> => {
      const body = JSON.stringify(bodyOf(message));
      const headers = { 'content-type': 'application/json' };
      const sent = await post.send({ url: secretOf(url), headers, body }, signal);
      const failure = failureOf(sent);
      if (failure) throw failure;
      return { status: sent.send.status, response: sent.send.responseBody?.slice(0, 200) ?? null };
    },
  };
}
