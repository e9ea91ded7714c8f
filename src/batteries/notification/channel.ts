import type { GuardedPost } from '../guarded-post.ts';

/** A message as a channel gets it: rendered, with values escaped for its medium. */
export interface Message {
  /** The same for every try, so that a receiver can recognise a repetition. */
  id: string;
  to: string | null;
  subject: string | null;
  text: string;
  html: string | null;
  /** Only for channels that attach. */
  attachment?: Attachment | null;
}

/** A file that goes with a message. */
export interface Attachment {
  name: string;
  bytes: number;
  open(): Promise<AsyncIterable<Uint8Array>>;
}

/** What the provider answered, such as its id of the message. */
export type Receipt = Record<string, string | number | null | readonly string[]>;

export interface Sender {
  post: GuardedPost;
  signal: AbortSignal;
}

/** One way to reach people. Another provider needs only this interface. */
export interface Channel {
  /** Whether each message needs a recipient: chats have theirs in their URL. */
  readonly addressed: boolean;
  /** What a recipient looks like, for the example of the params. */
  readonly sampleTo?: string;
  /** Whether messages may have an attachment. Default false. */
  readonly attaches?: boolean;
  /** Makes a value harmless in the text of a message. Default: unchanged. */
  escape?(value: string): string;
  send(message: Message, sender: Sender): Promise<Receipt>;
}
