import { setTimeout as pause } from 'node:timers/promises';
import type { Recorder } from '../history/recorder.ts';

const EVERY_SECONDS = [1, 2, 5];
const TRIES_MAX = 100;
const RETRY_MS = 300;
const PATIENCE_MS = 5_000;
const CONFLICT = 409;

/**
 * Schedules that are due all the time, made through any API while it starts and fails, and paused when
 * the faults are over. Half of them make good for everything that was missed, the others for the latest.
 */
export class Schedules {
  readonly #addresses: readonly string[];
  readonly #recorder: Recorder;
  readonly #made: { id: string; everyMs: number; fromMs: number }[] = [];

  constructor(addresses: readonly string[], recorder: Recorder) {
    this.#addresses = addresses;
    this.#recorder = recorder;
  }

  async start(count: number): Promise<void> {
    for (let n = 0; n < count; n += 1) {
      const seconds = EVERY_SECONDS[n % EVERY_SECONDS.length] ?? 1;
      const name = `chaos-${n}`;
      const made = await this.#send('POST', '/v1/schedules', {
        name,
        definitionKey: 'quick',
        cron: `*/${seconds} * * * * *`,
        params: { n: `schedule-${n}`, does: 'ok' },
        catchUp: n % 2 === 0 ? 'all' : 'latest',
        catchUpMax: 1_000,
      });
      const id = made?.id ?? (await this.#idOf(name));
      this.#made.push({ id, everyMs: seconds * 1_000, fromMs: Date.now() });
    }
  }

  async stop(): Promise<void> {
    for (const { id, everyMs, fromMs } of this.#made.splice(0)) {
      const untilMs = Date.now();
      await this.#send('POST', `/v1/schedules/${id}/pause`, {});
      this.#recorder.write('schedules', { id, everyMs, fromMs, untilMs });
    }
  }

  /** An earlier request made it, and its answer was lost. */
  async #idOf(name: string): Promise<string> {
    const page = await this.#send('GET', `/v1/schedules?name=${name}`);
    const id = page?.schedules?.[0]?.id;
    if (id === undefined) throw new Error(`there is no schedule ${name}, and it cannot be made`);
    return id;
  }

  /** Asked until it is answered, one server after the other. Null: a schedule of this name exists. */
  async #send(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Answer | null> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const address = this.#addresses[tries % this.#addresses.length];
      const answer = await fetch(`${address}${path}`, {
        method,
        signal: AbortSignal.timeout(PATIENCE_MS),
        ...(body !== undefined && {
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        }),
      })
        .then(async (response) => ({ response, text: await response.text() }))
        .catch(() => null);
      if (answer?.response.ok) return JSON.parse(answer.text) as Answer;
      if (answer?.response.status === CONFLICT) return null;
      if (answer && answer.response.status < 500) throw new Error(`${path}: ${answer.text}`);
      await pause(RETRY_MS);
    }
    throw new Error(`${path} was not answered`);
  }
}

interface Answer {
  id: string;
  schedules?: { id: string }[];
}
