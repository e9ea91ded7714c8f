import type { RunnerGroup } from '../../runtime/processes/cgroup.ts';
import type { NameTag } from '../../runtime/processes/name-tag.ts';
import type { RssWatch } from './rss-watch.ts';

const MEGABYTE = 1_048_576;

/** Node reserves some 600 MB that it never touches, and the limit counts reserved memory. */
const DATA_HEADROOM_BYTES = 1_024 * MEGABYTE;

/**
 * The memory limit of a runner and its children. A control group enforces it exactly. Without one,
 * two weaker means are used: RLIMIT_DATA, which stops a single process that grows fast, and
 * periodic sampling of their total.
 */
export class MemoryLimit {
  readonly limitBytes: number;
  readonly group: RunnerGroup | null;
  readonly #tag: NameTag;
  readonly #watch: RssWatch;
  #seenPeakBytes = 0;
  #seenExceeded = false;

  constructor(memoryMb: number, tag: NameTag, group: RunnerGroup | null, watch: RssWatch) {
    this.limitBytes = memoryMb * MEGABYTE;
    this.group = group?.limitsMemory ? group : null;
    this.#tag = tag;
    this.#watch = watch;
  }

  /** For the launcher. */
  get dataLimitKb(): number | null {
    return this.group ? null : (this.limitBytes + DATA_HEADROOM_BYTES) / 1_024;
  }

  /** A job starts. The callback must end the process. */
  watch(end: () => void): void {
    if (this.group) return;
    this.#watch.add(this.#tag, {
      limitBytes: this.limitBytes,
      onSample: (bytes) => (this.#seenPeakBytes = Math.max(this.#seenPeakBytes, bytes)),
      onExceeded: () => {
        this.#seenExceeded = true;
        end();
      },
    });
  }

  unwatch(): void {
    if (!this.group) this.#watch.remove(this.#tag);
  }

  get exceeded(): boolean {
    return this.#seenExceeded || (this.group?.exceeded ?? false);
  }

  get peakBytes(): number | null {
    return this.group?.peakBytes ?? (this.#seenPeakBytes || null);
  }

  get sentence(): string {
    const peak = this.peakBytes;
    const peakText = peak === null ? '' : ` (at its peak ${megabytes(peak)} MB)`;
    return `the job needed more memory than its ${megabytes(this.limitBytes)} MB${peakText}`;
  }
}

function megabytes(bytes: number): number {
  return Math.round(bytes / MEGABYTE);
}
