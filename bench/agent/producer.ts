import { nowMs, sleep } from '../harness/clock.ts';
import type { Opened } from '../systems/system.ts';

const TICK_MS = 2;

/** The ways in which jobs are put in. */
export class Producer {
  readonly #opened: Opened;
  #next = 0;

  constructor(opened: Opened) {
    this.#opened = opened;
  }

  async loop(callers: number, ms: number): Promise<{ jobs: number; ms: number }> {
    const startMs = nowMs();
    let jobs = 0;
    const caller = async (): Promise<void> => {
      while (nowMs() - startMs < ms) {
        await this.#opened.enqueue({ n: this.#next++ });
        jobs++;
      }
    };
    await Promise.all(Array.from({ length: callers }, caller));
    return { jobs, ms: nowMs() - startMs };
  }

  async bulk(count: number, size: number, inFlight: number): Promise<number> {
    const startMs = nowMs();
    const end = this.#next + count;
    const caller = async (): Promise<void> => {
      while (this.#next < end) {
        const first = this.#next;
        this.#next = Math.min(end, first + size);
        const list = Array.from({ length: this.#next - first }, (_, i) => ({ n: first + i }));
        await this.#opened.enqueueMany(list);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, caller));
    return nowMs() - startMs;
  }

  async one(n: number): Promise<void> {
    await this.#opened.enqueue({ n, at: nowMs() });
  }

  /** Open loop: a slow answer does not slow the calls down, as with callers who do not wait. */
  async steadily(perSecond: number, seconds: number): Promise<void> {
    const startMs = nowMs();
    const total = perSecond * seconds;
    const calls: Promise<void>[] = [];
    while (calls.length < total) {
      const due = Math.min(total, ((nowMs() - startMs) / 1_000) * perSecond);
      while (calls.length < due) calls.push(this.one(this.#next++));
      await sleep(TICK_MS);
    }
    await Promise.all(calls);
  }
}
