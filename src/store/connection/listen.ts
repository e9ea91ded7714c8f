import { Client } from 'pg';
import type { Log } from '../../runtime/log.ts';
import type { Service } from '../../runtime/service.ts';
import { sleep } from '../../runtime/deadline.ts';
import { type Queryable, statement } from './db.ts';
import { DUE_CHANNEL, type DueHint, parseDueHint } from './due-hint.ts';
import { type LevelHint, parseHints, WAKE_CHANNEL } from './wake.ts';

/** Asks one worker instance to send its heartbeat now, because the answer has something new. */
const BEAT_CHANNEL = 'longshore_beat';

const BEAT = statement<{ pg_notify: string }>('beat_hint', 'select pg_notify($1, $2)');

export async function sendBeatHint(db: Queryable, worker: string): Promise<void> {
  await db.run(BEAT, [BEAT_CHANNEL, worker]);
}

/** What is done with hints. */
export interface HintHandlers {
  onWork?(hints: LevelHint[]): void;
  onBeat?(worker: string): void;
  onDue?(hint: DueHint): void;
  /** Hints may have been missed: poll everything once. Called after each (re)connection. */
  onConnected(): void;
}

export interface ListenerOptions {
  url: string;
  log: Log;
}

/**
 * A connection that only listens; the worker and the schedulers of a process share one, because
 * PostgreSQL wakes each listening connection for every hint. When it is lost, only hints are lost,
 * because polling finds the work anyway. It is reopened with a growing pause, and then everything is
 * polled once. A probe detects a connection that is open but dead.
 */
export class Listener implements Service {
  readonly name = 'listener';
  readonly #url: string;
  readonly #log: Log;
  readonly #handlers = new Set<HintHandlers>();
  #client: Client | undefined;
  #stopping = new AbortController();
  #loop: Promise<void> | undefined;

  constructor({ url, log }: ListenerOptions) {
    this.#url = url;
    this.#log = log;
  }

  /** These hear the hints from now on; on an open connection they poll once. Returns what ends it. */
  add(handlers: HintHandlers): () => void {
    this.#handlers.add(handlers);
    // If it fails, the connection is lost, and they poll after the next one.
    if (this.#client) {
      this.#listen(this.#client).then(
        () => handlers.onConnected(),
        () => undefined,
      );
    }
    return () => void this.#handlers.delete(handlers);
  }

  async #listen(client: Client): Promise<void> {
    const all = [...this.#handlers];
    const channels = [
      ...(all.some(({ onWork }) => onWork) ? [WAKE_CHANNEL] : []),
      ...(all.some(({ onBeat }) => onBeat) ? [BEAT_CHANNEL] : []),
      ...(all.some(({ onDue }) => onDue) ? [DUE_CHANNEL] : []),
    ];
    if (channels.length === 0) return;
    await client.query(channels.map((channel) => `listen ${channel}`).join('; '));
  }

  async start(): Promise<void> {
    if (this.#loop) return;
    this.#stopping = new AbortController();
    this.#loop = this.#keepListening(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
    this.#loop = undefined;
  }

  async #keepListening(stopping: AbortSignal): Promise<void> {
    let pauseMs = 100;
    while (!stopping.aborted) {
      try {
        await this.#listenOnce(stopping, () => (pauseMs = 100));
      } catch (error) {
        this.#log.debug({ err: error }, 'listening connection lost; polling goes on');
      }
      await sleep(pauseMs, stopping);
      pauseMs = Math.min(5_000, pauseMs * 2);
    }
  }

  async #listenOnce(stopping: AbortSignal, connected: () => void): Promise<void> {
    const client = new Client({
      connectionString: this.#url,
      application_name: 'longshore listen',
      connectionTimeoutMillis: 5_000,
      query_timeout: 5_000,
      keepAlive: true,
    });
    const lost = new Promise<never>((_, reject) => {
      client.on('error', reject);
      client.on('end', () => reject(new Error('connection ended')));
    });
    lost.catch(() => undefined);
    client.on('notification', ({ channel, payload = '' }) => {
      const work = channel === WAKE_CHANNEL ? parseHints(payload) : null;
      const due = channel === DUE_CHANNEL ? parseDueHint(payload) : null;
      for (const { onWork, onBeat, onDue } of this.#handlers) {
        if (work) onWork?.(work);
        if (channel === BEAT_CHANNEL) onBeat?.(payload);
        if (due) onDue?.(due);
      }
    });
    try {
      await Promise.race([client.connect(), lost]);
      this.#client = client;
      await this.#listen(client);
      connected();
      for (const { onConnected } of this.#handlers) onConnected();
      while (!stopping.aborted) {
        await Promise.race([sleep(15_000, stopping), lost]);
        if (!stopping.aborted) await client.query('select 1');
      }
    } finally {
      this.#client = undefined;
      await client.end().catch(() => undefined);
    }
  }
}
