/** In characters. Longer lines are cut, with a mark that tells how much is missing. */
export const OUTPUT_LINE_MAX = 16_384;
const TEXT_MAX = OUTPUT_LINE_MAX - '… (1,000,000,000,000,000 characters cut)'.length;

/**
 * Cuts what a process writes into lines. A line that never ends is not held: what is beyond the
 * limit is counted and dropped as it comes.
 */
export class OutputLines {
  readonly #onLine: (line: string) => void;
  #kept = '';
  #dropped = 0;

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  /** How many lines this chunk completed. */
  push(chunk: string): number {
    let count = 0;
    let start = 0;
    for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', start)) {
      this.#keep(chunk, start, end);
      this.#finish();
      count += 1;
      start = end + 1;
    }
    this.#keep(chunk, start, chunk.length);
    return count;
  }

  /** What has no line break yet is a line all the same when nothing more will come. */
  flush(): void {
    if (this.#kept !== '') this.#finish();
  }

  #keep(chunk: string, start: number, end: number): void {
    const until = Math.min(end, start + TEXT_MAX - this.#kept.length);
    if (until > start) this.#kept += chunk.slice(start, until);
    this.#dropped += end - Math.max(start, until);
  }

  #finish(): void {
    const line = this.#kept.endsWith('\r') ? this.#kept.slice(0, -1) : this.#kept;
    const dropped = this.#dropped;
    this.#kept = '';
    this.#dropped = 0;
    // The cut may have gone through a character of two halves.
    this.#onLine(dropped === 0 ? line : `${line.toWellFormed()}… (${dropped} characters cut)`);
  }
}
