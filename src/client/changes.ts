import type { ChangeView } from '../core/views/change-feed.ts';
import { follow } from './http/follow.ts';
import type { Transport } from './http/transport.ts';

/** That something has changed, not what it is now. */
export type Change = ChangeView;

export interface ChangesOptions {
  /** The id of the last change that you know of; what has changed since is told at once. */
  cursor?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** Over restarts of the server and broken connections: what changed meanwhile is told afterwards. */
export async function* followChanges(
  transport: Transport,
  { cursor, signal }: ChangesOptions,
): AsyncGenerator<Change, void, undefined> {
  yield* follow<Change>(transport, '/v1/stream', new URLSearchParams(), cursor, signal);
}
