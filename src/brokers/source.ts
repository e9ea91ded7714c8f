/**
 * Where messages come from. A message is acknowledged only when its job is committed, so a crash or
 * a lost connection makes the broker send it again: at least once.
 */
export interface Source {
  /** For logs and metrics. */
  readonly name: string;
  /** Loads the client of the broker. Rejects with a `StartRefusal` where it is not installed. */
  load(): Promise<void>;
  /** Connects once. A lost session ends; the caller opens another. Rejects soon when the signal aborts. */
  open(stopping: AbortSignal): Promise<Session>;
}

export interface Message {
  /** The id that its producer gave it. */
  id: string | null;
  /** Where the broker keeps it, the same whenever it comes again. Null where the broker has no such thing. */
  position: string | null;
  body: Uint8Array;
  headers: Readonly<Record<string, unknown>>;
}

/** Why a message becomes no job. */
export interface Refused {
  code: string;
  detail: string;
}

export interface Session {
  readonly isOpen: boolean;
  /** Messages that the broker has sent and that are not settled. */
  readonly unsettled: number;
  /** The next messages, at least one: waits for it. None when the session is over or the signal aborts. */
  take(max: number, signal: AbortSignal): Promise<Message[]>;
  /** Puts a message where poison messages go, with the reason. Rejects when the broker does not confirm. */
  deadLetter(message: Message, why: Refused): Promise<void>;
  /** Acknowledges the messages of the last `take`, when all of them are jobs or dead letters. */
  settle(messages: readonly Message[]): Promise<void>;
  /** The broker sends again what is not settled. */
  close(): Promise<void>;
}
