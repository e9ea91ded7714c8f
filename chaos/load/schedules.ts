import { setTimeout as pause } from 'node:timers/promises';
import type { Recorder } from '../history/recorder.ts';

const EVERY_SECONDS = [1, 2, 5];
const TRIES_MAX = 100;
const RETRY_MS = 300;

/**
 * Schedules that are due all the time, made through the API before the faults begin and paused when
 * they are over. Half of them make good for everything that was missed, the others for the latest.
 */
export class Schedules {
  readonly #address: string;
  readonly #recorder: Recorder;
  readonly #made: { id: string; everyMs: number; fromMs: number }[] = [];

  constructor(address: string, recorder: Recorder) {
    this.#address = address;
    this.#recorder = recorder;
  }

  async start(count: number): Promise<void> {
    for (let n = 0; n < count; n += 1) {
      const seconds = EVERY_SECONDS[n % EVERY_SECONDS.length] ?? 1;
      const { id } = await this.#post('/v1/schedules', {
        name: `chaos-${n}`,
        definitionKey: 'quick',
        cron: `*/${seconds} * * * * *`,
        params: { n: `schedule-${n}`, does: 'ok' },
        catchUp: n % 2 === 0 ? 'all' : 'latest',
        catchUpMax: 1_000,
      });
      this.#made.push({ id, everyMs: seconds * 1_000, fromMs: Date.now() });
    }
  }

  async stop(): Promise<void> {
    for (const { id, everyMs, fromMs } of this.#made.splice(0)) {
      const untilMs = Date.now();
      await this.#post(`/v1/schedules/${id}/pause`, {});
      this.#recorder.write('schedules', { id, everyMs, fromMs, untilMs });
    }
  }

  /** Asked until it is answered. Making one is not repeatable, but nothing is broken by then. */
  async #post(path: string, body: unknown): Promise<{ id: string }> {
    for (let tries = 1; ; tries += 1) {
      const response = await fetch(`${this.#address}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }).catch(() => null);
      if (response?.ok) return (await response.json()) as { id: string };
      if (response && response.status < 500) throw new Error(`${path}: ${await response.text()}`);
      if (tries === TRIES_MAX) throw new Error(`${path} was not answered`);
      await pause(RETRY_MS);
    }
  }
}
