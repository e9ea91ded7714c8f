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

export interface ListenerOptions {
  url: string;
  log: Log;
  onWork?(hints: LevelHint[]): void;
  onBeat?(worker: string): void;
  onDue?(hint: DueHint): void;
  /** Hints may have been missed: poll everything once. Called after each (re)connection. */
  onConnected(): void;
}

/**
 * A connection that only listens. When it is lost, only hints are lost, because polling finds the
 * work anyway. It is reopened with a growing pause, and then everything is polled once. A probe
 * detects a connection that is open but dead.
 */
export class Listener implements Service {
  readonly name = 'listener';
  readonly #options: ListenerOptions;
  #stopping = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  get #channels(): string[] {
    const { onWork, onBeat, onDue } = this.#options;
    return [
      ...(onWork ? [WAKE_CHANNEL] : []),
      ...(onBeat ? [BEAT_CHANNEL] : []),
      ...(onDue ? [DUE_CHANNEL] : []),
    ];
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
        this.#options.log.debug({ err: error }, 'listening connection lost; polling goes on');
      }
      await sleep(pauseMs, stopping);
      pauseMs = Math.min(5_000, pauseMs * 2);
    }
  }

  async #listenOnce(stopping: AbortSignal, connected: () => void): Promise<void> {
    const client = new Client({
      connectionString: this.#options.url,
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
      if (channel === WAKE_CHANNEL) this.#options.onWork?.(parseHints(payload));
      if (channel === BEAT_CHANNEL) this.#options.onBeat?.(payload);
      const due = channel === DUE_CHANNEL ? parseDueHint(payload) : null;
      if (due) this.#options.onDue?.(due);
    });
    try {
      await Promise.race([client.connect(), lost]);
      await client.query(this.#channels.map((channel) => `listen ${channel}`).join('; '));
      connected();
      this.#options.onConnected();
      while (!stopping.aborted) {
        await Promise.race([sleep(15_000, stopping), lost]);
        if (!stopping.aborted) await client.query('select 1');
      }
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
