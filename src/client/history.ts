import type {
  AttemptView,
  DefinitionLogView,
  EventView,
  LogView,
  StepsView,
} from '../core/views/history.ts';
import { follow } from './http/follow.ts';
import { queryOf } from './http/query.ts';
import type { Transport } from './http/transport.ts';

export type JobAttempt = AttemptView;
export type JobEvent = EventView;
export type JobLog = LogView;
export type DefinitionLog = DefinitionLogView;
export type JobSteps = StepsView;

export interface ReadOptions {
  /** Continue with new entries until the job has ended. */
  follow?: boolean | undefined;
  /** The id of the last entry that you have. */
  cursor?: string | undefined;
  signal?: AbortSignal | undefined;
}

export interface ReadLogOptions extends ReadOptions {
  attempt?: number | undefined;
}

/** The maximum of the server. */
const PAGE_SIZE = 1_000;

/** The entries, the oldest first: page by page, or live. */
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

export interface DefinitionLogOptions {
  /** Continue with new lines until `signal` aborts. */
  follow?: boolean | undefined;
  /** The number of lines to begin with: 1 to 1,000, default 200. */
  limit?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** Ids to know again after a broken connection. */
const KNOWN_MAX = 10_000;

/** Lines that a resumed stream repeats are left out. */
export async function* readDefinitionLogs(
  transport: Transport,
  key: string,
  { follow: live = false, limit, signal }: DefinitionLogOptions,
): AsyncGenerator<DefinitionLog, void, undefined> {
  const path = `/v1/definitions/${encodeURIComponent(key)}/logs`;
  const query = queryOf({ limit });
  if (!live) {
    const call = { method: 'GET', path, query, repeatable: true, signal } as const;
    yield* (await transport.call<{ logs: DefinitionLog[] }>(call)).logs;
    return;
  }
  let known = new Set<string>();
  for await (const line of follow<DefinitionLog>(transport, path, query, undefined, signal)) {
    if (known.has(line.id)) continue;
    if (known.size >= KNOWN_MAX) known = new Set([...known].slice(KNOWN_MAX / 2));
    known.add(line.id);
    yield line;
  }
}

type Page<Entry> = Record<'events' | 'logs', Entry[]> & { nextCursor: string | null };
