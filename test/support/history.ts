import { definitionInfo } from '../../src/core/definition/check-definition.ts';
import type { EventView, HookName, LogLine, LogView } from '../../src/core/views/history.ts';
import type { ClaimedJob } from '../../src/store/claim/claim.ts';
import { publishDefinitions } from '../../src/store/enqueue/definitions.ts';
import type { NewEvent } from '../../src/store/attempt/events.ts';
import type { LogChunk } from '../../src/store/attempt/log-chunks.ts';
import { readEvents } from '../../src/store/read/read-events.ts';
import { readLogs } from '../../src/store/read/read-logs.ts';
import type { TestDatabase } from './servers/database.ts';

type Claim = Pick<ClaimedJob, 'id' | 'claim' | 'attempts'>;

export function line(message: string): LogLine {
  return { atMs: 1_767_225_600_000, level: 'info', stream: 'stdout', message };
}

export function chunk({ id, claim, attempts }: Claim, n: number, messages: string[]): LogChunk {
  return { id, claim, attempt: attempts, n, lines: messages.map(line) };
}

export function saidBy({ id, claim, attempts }: Claim, n: number, payloadJson = '{}'): NewEvent {
  return { id, claim, attempt: attempts, n, type: 'custom', payloadJson, ageMs: 0 };
}

/** Publishes a definition that has these hooks. */
export async function publishHooks(
  { db }: TestDatabase,
  key: string,
  hooks: readonly HookName[],
): Promise<void> {
  await publishDefinitions(db, [definitionInfo({ key }, { paramsSchema: null, hooks })]);
}

/** All pages, one after another. */
export async function allEvents(
  { db }: TestDatabase,
  jobId: string,
  limit = 1_000,
): Promise<EventView[]> {
  return await allPages(async (afterId) => {
    const page = await readEvents(db, 'default', jobId, { afterId, limit });
    return page && { ...page, entries: page.events };
  });
}

export async function allLogs(
  { db }: TestDatabase,
  jobId: string,
  { limit = 1_000, attempt = null }: { limit?: number; attempt?: number | null } = {},
): Promise<LogView[]> {
  return await allPages(async (afterId) => {
    const page = await readLogs(db, 'default', jobId, { afterId, attempt, limit });
    return page && { ...page, entries: page.logs };
  });
}

async function allPages<Entry>(
  read: (afterId: string | null) => Promise<{ entries: Entry[]; nextId: string | null } | null>,
): Promise<Entry[]> {
  const all: Entry[] = [];
  let afterId: string | null = null;
  do {
    const page: { entries: Entry[]; nextId: string | null } | null = await read(afterId);
    if (!page) throw new Error('no such job');
    all.push(...page.entries);
    afterId = page.nextId;
  } while (afterId !== null);
  return all;
}

/** Reads a history as it happens: each read begins after the last event of the previous one. */
export class Follower {
  readonly events: EventView[] = [];
  readonly #database: TestDatabase;
  readonly #jobId: string;
  ended = false;

  constructor(database: TestDatabase, jobId: string) {
    this.#database = database;
    this.#jobId = jobId;
  }

  async look(): Promise<string[]> {
    const afterId = this.events.at(-1)?.id ?? null;
    const question = { afterId, limit: 1_000 };
    const page = await readEvents(this.#database.db, 'default', this.#jobId, question);
    if (!page) throw new Error('no such job');
    this.events.push(...page.events);
    this.ended = page.ended;
    return page.events.map(({ type }) => type);
  }
}
