import type { Clock } from '../../runtime/clock.ts';
import { findTagged, type NameTag } from '../../runtime/processes/name-tag.ts';
import { proportionalBytes, usageOf } from '../../runtime/processes/process-usage.ts';

export interface Watched {
  limitBytes: number;
  /** Called with the total memory of the process and its children. */
  onSample(bytes: number): void;
  onExceeded(): void;
}

const SAMPLE_MS = 250;
/** The most time that sampling may take, as a share; it is slow with very many processes. */
const COST_MAX = 0.05;

/**
 * Samples the memory of jobs without a control group four times a second, while a job with a limit
 * runs. One scan serves all jobs.
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

  /**
   * Shared memory counts once: the plain sum can only show that the limit is certainly not reached.
   */
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
