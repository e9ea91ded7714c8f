import type { ChangeView } from '../core/views/change-feed.ts';
import { follow } from './http/follow.ts';
import type { Transport } from './http/transport.ts';

/** A topic that changed, without its new content. */
export type Change = ChangeView;

export interface ChangesOptions {
  /** The id of the last change that you have; later changes are reported at once. */
  cursor?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** Continues after restarts of the server and broken connections, without missing a change. */
export async function* followChanges(
  transport: Transport,
  { cursor, signal }: ChangesOptions,
): AsyncGenerator<Change, void, undefined> {
  yield* follow<Change>(transport, '/v1/stream', new URLSearchParams(), cursor, signal);
}
