/** In characters. Longer lines are cut, with a note about how much is missing. */
export const OUTPUT_LINE_MAX = 16_384;
const TEXT_MAX = OUTPUT_LINE_MAX - '… (1,000,000,000,000,000 characters cut)'.length;

/**
 * Splits output into lines. An endless line is not buffered: what exceeds the limit is counted and
 * dropped.
 */
export class OutputLines {
  readonly #onLine: (line: string) => void;
  #kept = '';
  #dropped = 0;

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  /** Returns the number of lines that this chunk completed. */
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

  /** Emits the last line even without a line break. */
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
    // The cut may split a surrogate pair.
    this.#onLine(dropped === 0 ? line : `${line.toWellFormed()}… (${dropped} characters cut)`);
  }
}
