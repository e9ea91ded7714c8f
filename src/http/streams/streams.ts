import type { FastifyReply, FastifyRequest } from 'fastify';
import { systemClock } from '../../runtime/clock.ts';
import { sleep } from '../../runtime/deadline.ts';
import type { Log } from '../../runtime/log.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { DatabaseUnavailable } from '../../store/connection/db.ts';
import { EVENT_STREAM, EventStream, message } from './event-stream.ts';
import { pathOf, unavailable } from '../problem.ts';

/** A page of a job's history. */
export interface HistoryPage<Entry> {
  entries: readonly Entry[];
  /** Null if there is no further page yet. */
  nextId: string | null;
  /** The job has finished: this is the last page. */
  ended: boolean;
  /** The data of the `end` event. */
  end?: Record<string, unknown>;
}

export interface History<Entry> {
  /** Null if the job does not exist (any more). */
  read(afterId: string | null): Promise<HistoryPage<Entry> | null>;
  /** Throws the error for a missing job. */
  missing(): never;
  /** The `event:` field of an entry. */
  nameOf(entry: Entry): string;
  /** The poll intervals, where they differ from those of other streams. */
  poll?: Pick<StreamLimits, 'pollMs' | 'pollMaxMs'>;
}

export interface StreamLimits {
  streamsMax: number;
  /** The first poll interval; it doubles up to `pollMaxMs`. */
  pollMs: number;
  pollMaxMs: number;
  heartbeatMs: number;
  /** How long to wait for an unreachable database before the stream is closed. */
  outageMaxMs: number;
}

export const STREAM_LIMITS: StreamLimits = {
  streamsMax: 2_000,
  pollMs: 250,
  pollMaxMs: 1_000,
  heartbeatMs: 15_000,
  outageMaxMs: 60_000,
};

const OUTAGE_PAUSE_MAX_MS = 5_000;

/**
 * Live streams of this process. Each reads a page, sends it and only then reads the next, so a
 * stream has at most one query in progress and one page in memory.
 */
export class Streams {
  readonly #limits: StreamLimits;
  readonly #log: Log;
  readonly #open = new Set<EventStream>();
  /** Number of streams per key and per tenant. */
  readonly #owned = new Map<string, number>();
  #closed = false;

  constructor(limits: StreamLimits, log: Log) {
    this.#limits = limits;
    this.#log = log;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Sends the history from `lastId` on. Errors before the stream starts are normal responses. */
  async answer<Entry extends { id: string }>(
    request: FastifyRequest,
    reply: FastifyReply,
    history: History<Entry>,
    afterId: string | null,
  ): Promise<FastifyReply> {
    const stream = this.#enter(request, reply);
    const first = await history.read(afterId);
    if (first === null) return history.missing();
    // An EventSource reconnects after every end; 204 stops it.
    if (isOver(first)) return reply.code(204).send();
    if (stream.signal.aborted) throw stopping();
    if (request.method === 'HEAD') return reply.type(EVENT_STREAM).send();
    reply.hijack();
    stream.begin(reply.getHeaders(), this.#limits.heartbeatMs);
    void this.#follow(stream, history, first, afterId).catch((error: unknown) => {
      this.#log.warn({ err: error, path: pathOf(request.url) }, 'live stream broke off');
      stream.stop();
    });
    return reply;
  }

  /** Closes all streams; readers reconnect to another process. */
  close(): void {
    this.#closed = true;
    for (const stream of this.#open) stream.stop();
  }

  #enter({ caller }: FastifyRequest, { raw }: FastifyReply): EventStream {
    if (this.#closed) throw stopping();
    const owners = caller?.keyId ? [`key ${caller.keyId}`, `tenant ${caller.home}`] : [];
    this.#refuseCrowds(owners);
    if (this.#open.size >= this.#limits.streamsMax) {
      throw unavailable('too many open streams; try again, or read page by page');
    }
    const stream = new EventStream(raw);
    this.#open.add(stream);
    for (const owner of owners) this.#count(owner, 1);
    const leave = () => {
      this.#open.delete(stream);
      for (const owner of owners) this.#count(owner, -1);
    };
    stream.signal.addEventListener('abort', leave, { once: true });
    return stream;
  }

  /** A key may have a quarter, and a tenant half, of all streams. */
  #refuseCrowds([key, tenant]: readonly string[]): void {
    const { streamsMax } = this.#limits;
    const isFull = (owner: string | undefined, max: number) =>
      owner !== undefined && (this.#owned.get(owner) ?? 0) >= Math.max(1, Math.floor(max));
    const whose = isFull(key, streamsMax / 4)
      ? 'this key'
      : isFull(tenant, streamsMax / 2)
        ? 'this tenant'
        : null;
    if (whose === null) return;
    const detail = `${whose} has too many open streams; read page by page`;
    throw new Refusal('QUOTA_EXCEEDED', detail, { headers: { 'retry-after': '5' } });
  }

  #count(owner: string, by: 1 | -1): void {
    const left = (this.#owned.get(owner) ?? 0) + by;
    if (left === 0) this.#owned.delete(owner);
    else this.#owned.set(owner, left);
  }

  async #follow<Entry extends { id: string }>(
    stream: EventStream,
    { read, nameOf, poll }: History<Entry>,
    first: HistoryPage<Entry>,
    startId: string | null,
  ): Promise<void> {
    const { pollMs, pollMaxMs } = this.#pollOf(poll);
    let end: Record<string, unknown> = {};
    let page: HistoryPage<Entry> | null = first;
    let afterId = startId;
    let pauseMs = pollMs;
    while (page !== null && !stream.signal.aborted) {
      const { entries, nextId, ended }: HistoryPage<Entry> = page;
      await stream.write(entries.map((one) => message(one.id, nameOf(one), one)).join(''));
      afterId = nextId ?? entries.at(-1)?.id ?? afterId;
      if (nextId === null) {
        end = page.end ?? end;
        if (ended) break;
        if (entries.length > 0) pauseMs = pollMs;
        await sleep(pauseMs, stream.signal);
        pauseMs = Math.min(pollMaxMs, pauseMs * 2);
      }
      page = await this.#patiently(stream, async () => await read(afterId));
    }
    if (!stream.signal.aborted) stream.finish(end);
  }

  /** The shorter intervals count. */
  #pollOf(own: History<never>['poll']): Pick<StreamLimits, 'pollMs' | 'pollMaxMs'> {
    const { pollMs, pollMaxMs } = this.#limits;
    return {
      pollMs: Math.min(pollMs, own?.pollMs ?? pollMs),
      pollMaxMs: Math.min(pollMaxMs, own?.pollMaxMs ?? pollMaxMs),
    };
  }

  /** Retries while the database is unreachable for a short time. */
  async #patiently<T>(stream: EventStream, read: () => Promise<T>): Promise<T | null> {
    const giveUpAtMs = systemClock.monotonicMs() + this.#limits.outageMaxMs;
    for (let pauseMs = this.#limits.pollMs; !stream.signal.aborted; pauseMs *= 2) {
      try {
        return await read();
      } catch (error) {
        const mayPass = error instanceof DatabaseUnavailable;
        if (!mayPass || systemClock.monotonicMs() > giveUpAtMs) throw error;
      }
      await sleep(Math.min(pauseMs, OUTAGE_PAUSE_MAX_MS), stream.signal);
    }
    return null;
  }
}

function isOver({ entries, nextId, ended }: HistoryPage<unknown>): boolean {
  return entries.length === 0 && nextId === null && ended;
}

function stopping() {
  return unavailable('the server is stopping; try again');
}
