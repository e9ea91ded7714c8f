import type { Clock } from '../../runtime/clock.ts';
import { findTagged, type NameTag } from '../../runtime/processes/name-tag.ts';
import { proportionalBytes, usageOf } from '../../runtime/processes/process-usage.ts';

export interface Watched {
  limitBytes: number;
  /** What the process and its children take together, told at each look. */
  onLook(bytes: number): void;
  onExceeded(): void;
}

const LOOK_MS = 250;
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
  #looking = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(tag: NameTag, watched: Watched): void {
    this.#watched.set(tag, watched);
    if (!this.#timer && !this.#looking) this.#lookIn(LOOK_MS);
  }

  remove(tag: NameTag): void {
    this.#watched.delete(tag);
    if (this.#watched.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #lookIn(delayMs: number): void {
    this.#timer = setTimeout(() => void this.#look(), delayMs).unref();
  }

  async #look(): Promise<void> {
    this.#timer = undefined;
    this.#looking = true;
    const startMs = this.#clock.monotonicMs();
    const found = await findTagged((tag) => this.#watched.has(tag));
    for (const [tag, watched] of this.#watched) {
      const pids = [...found].filter((entry) => entry[1] === tag).map(([pid]) => pid);
      this.#judge(watched, pids);
    }
    this.#looking = false;
    const tookMs = this.#clock.monotonicMs() - startMs;
    if (this.#watched.size > 0) this.#lookIn(Math.max(LOOK_MS, tookMs / COST_MAX));
  }

  /** What processes share counts once: the plain sum is only good for "certainly not too much". */
  #judge({ limitBytes, onLook, onExceeded }: Watched, pids: readonly number[]): void {
    const sum = (look: (pid: number) => number | null | undefined) =>
      pids.reduce((bytes, pid) => bytes + (look(pid) ?? 0), 0);
    const plain = sum((pid) => usageOf(pid)?.heldBytes);
    const bytes =
      plain <= limitBytes || pids.length === 1
        ? plain
        : sum((pid) => proportionalBytes(pid) ?? usageOf(pid)?.heldBytes);
    onLook(bytes);
    if (bytes > limitBytes) onExceeded();
  }
}
