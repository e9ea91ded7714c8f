import type { AttemptView, EventView, LogView } from '../core/views/history.ts';
import { follow } from './http/follow.ts';
import { queryOf } from './http/query.ts';
import type { Transport } from './http/transport.ts';

export type JobAttempt = AttemptView;
export type JobEvent = EventView;
export type JobLog = LogView;

export interface ReadOptions {
  /** Go on with what happens, until the job is over. */
  follow?: boolean | undefined;
  /** The id of the last entry that you have; what came after it is read. */
  cursor?: string | undefined;
  signal?: AbortSignal | undefined;
}

export interface ReadLogOptions extends ReadOptions {
  attempt?: number | undefined;
}

/** What a server answers at most. */
const PAGE_SIZE = 1_000;

/** Entry by entry, the oldest first: page after page, or as they happen. */
export async function* readHistory<Entry>(
  transport: Transport,
  path: string,
  name: 'events' | 'logs',
  options: ReadLogOptions,
): AsyncGenerator<Entry, void, undefined> {
  const { follow: live = false, cursor: start, signal, ...filter } = options;
  if (live) {
    yield* follow<Entry>(transport, path, queryOf(filter), start, signal);
    return;
  }
  let cursor = start;
  do {
    const query = queryOf({ ...filter, cursor, limit: PAGE_SIZE });
    const page: Page<Entry> = await transport.call({
      method: 'GET',
      path,
      query,
      repeatable: true,
      signal,
    });
    yield* page[name];
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}

type Page<Entry> = Record<'events' | 'logs', Entry[]> & { nextCursor: string | null };
