import type { FastifyReply, FastifyRequest } from 'fastify';
import { systemClock } from '../../runtime/clock.ts';
import { sleep } from '../../runtime/deadline.ts';
import type { Log } from '../../runtime/log.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { DatabaseUnavailable } from '../../store/connection/db.ts';
import { EVENT_STREAM, EventStream, message } from './event-stream.ts';
import { pathOf, unavailable } from '../problem.ts';

/** A part of a job's history, in its order. */
export interface HistoryPage<Entry> {
  entries: readonly Entry[];
  /** Null when there is no further page at the moment. */
  nextId: string | null;
  /** The job is over: nothing will ever follow this page. */
  ended: boolean;
}

export interface History<Entry> {
  /** Null when there is no such history, or no longer. */
  read(afterId: string | null): Promise<HistoryPage<Entry> | null>;
  /** How it is refused when there never was one. */
  missing(): never;
  /** What `event:` says of an entry. */
  nameOf(entry: Entry): string;
}

export interface StreamLimits {
  streamsMax: number;
  /** The first pause when nothing came; it doubles up to the second one. */
  pollMs: number;
  pollMaxMs: number;
  heartbeatMs: number;
  /** For so long a database that is away is waited for; then the reader may look elsewhere. */
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
 * The live streams of this process. Each of them asks the store for the next page, sends it, and
 * only then asks again, so that a stream has one question under way at most and holds one page of
 * memory however long its history and however slow its reader.
 */
export class Streams {
  readonly #limits: StreamLimits;
  readonly #log: Log;
  readonly #open = new Set<EventStream>();
  /** How many of them belong to a key, or to a tenant. */
  readonly #owned = new Map<string, number>();
  #closed = false;

  constructor(limits: StreamLimits, log: Log) {
    this.#limits = limits;
    this.#log = log;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Answers with the history from there on. What can go wrong before it begins is answered plainly. */
  async answer<Entry extends { id: string }>(
    request: FastifyRequest,
    reply: FastifyReply,
    history: History<Entry>,
    afterId: string | null,
  ): Promise<FastifyReply> {
    const stream = this.#enter(request, reply);
    const first = await history.read(afterId);
    if (first === null) return history.missing();
    // An EventSource comes again after every end; this answer is what tells it to stay away.
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

  /** Ends all of them at once; their readers come again, to another process or to the next start. */
  close(): void {
    this.#closed = true;
    for (const stream of this.#open) stream.stop();
  }

  #enter({ caller }: FastifyRequest, { raw }: FastifyReply): EventStream {
    if (this.#closed) throw stopping();
    const owners = caller?.keyId ? [`key ${caller.keyId}`, `tenant ${caller.home}`] : [];
    this.#refuseCrowds(owners);
    if (this.#open.size >= this.#limits.streamsMax) {
      throw unavailable(
        'too many live streams are open here; try again, or read without following',
      );
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

  /** A key has a quarter of what there is, and a tenant half, so that others find room. */
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
    const detail = `${whose} has as many live streams open here as it may; read without following`;
    throw new Refusal('QUOTA_EXCEEDED', detail, { headers: { 'retry-after': '5' } });
  }

  #count(owner: string, by: 1 | -1): void {
    const left = (this.#owned.get(owner) ?? 0) + by;
    if (left === 0) this.#owned.delete(owner);
    else this.#owned.set(owner, left);
  }

  async #follow<Entry extends { id: string }>(
    stream: EventStream,
    { read, nameOf }: History<Entry>,
    first: HistoryPage<Entry>,
    startId: string | null,
  ): Promise<void> {
    const { pollMs, pollMaxMs } = this.#limits;
    let page: HistoryPage<Entry> | null = first;
    let afterId = startId;
    let pauseMs = pollMs;
    while (page !== null && !stream.signal.aborted) {
      const { entries, nextId, ended }: HistoryPage<Entry> = page;
      await stream.write(entries.map((one) => message(one.id, nameOf(one), one)).join(''));
      afterId = nextId ?? entries.at(-1)?.id ?? afterId;
      if (nextId === null) {
        if (ended) break;
        if (entries.length > 0) pauseMs = pollMs;
        await sleep(pauseMs, stream.signal);
        pauseMs = Math.min(pollMaxMs, pauseMs * 2);
      }
      page = await this.#patiently(stream, async () => await read(afterId));
    }
    if (!stream.signal.aborted) stream.finish();
  }

  /** A database that is away for a moment is no reason to send everybody away. */
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
