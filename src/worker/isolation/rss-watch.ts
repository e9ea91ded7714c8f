import type { Clock } from '../../runtime/clock.ts';
import { findTagged, type NameTag } from '../../runtime/processes/name-tag.ts';
import { proportionalBytes, usageOf } from '../../runtime/processes/process-usage.ts';

export interface Watched {
  limitBytes: number;
  /** What the process and its children take together, told at each look. */
  onSample(bytes: number): void;
  onExceeded(): void;
}

const SAMPLE_MS = 250;
/** On a machine with very many processes a look takes long; it may take this part of the time. */
const COST_MAX = 0.05;

/**
 * Watches the memory of jobs where no control group does it: a look at the processes of each, four
 * times a second, while a job with a limit runs. One look serves all jobs.
 */
export class RssWatch {
  readonly #clock: Clock;
  readonly #watched = new Map<NameTag, Watched>();
  #timer: NodeJS.Timeout | undefined;
  #sampling = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(tag: NameTag, watched: Watched): void {
    this.#watched.set(tag, watched);
    if (!this.#timer && !this.#sampling) this.#sampleIn(SAMPLE_MS);
  }

  remove(tag: NameTag): void {
    this.#watched.delete(tag);
    if (this.#watched.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #sampleIn(delayMs: number): void {
    this.#timer = setTimeout(() => void this.#sample(), delayMs).unref();
  }

  async #sample(): Promise<void> {
    this.#timer = undefined;
    this.#sampling = true;
    const startMs = this.#clock.monotonicMs();
    const found = await findTagged((tag) => this.#watched.has(tag));
    for (const [tag, watched] of this.#watched) {
      const pids = [...found].filter((entry) => entry[1] === tag).map(([pid]) => pid);
      this.#judge(watched, pids);
    }
    this.#sampling = false;
    const tookMs = this.#clock.monotonicMs() - startMs;
    if (this.#watched.size > 0) this.#sampleIn(Math.max(SAMPLE_MS, tookMs / COST_MAX));
  }

  /** What processes share counts once: the plain sum is only good for "certainly not too much". */
  #judge({ limitBytes, onSample, onExceeded }: Watched, pids: readonly number[]): void {
    const sum = (read: (pid: number) => number | null | undefined) =>
      pids.reduce((bytes, pid) => bytes + (read(pid) ?? 0), 0);
    const plain = sum((pid) => usageOf(pid)?.heldBytes);
    const bytes =
      plain <= limitBytes || pids.length === 1
        ? plain
        : sum((pid) => proportionalBytes(pid) ?? usageOf(pid)?.heldBytes);
    onSample(bytes);
    if (bytes > limitBytes) onExceeded();
  }
}
