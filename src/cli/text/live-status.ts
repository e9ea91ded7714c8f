import { clip } from './columns.ts';
import type { Output } from './output.ts';

/** One line at the bottom of a terminal that replaces itself, and lines above it that stay. */
export class LiveStatus {
  readonly #out: Output;
  #line = '';

  constructor(out: Output) {
    this.#out = out;
  }

  show(line: string): void {
    const shown = clip(line, this.#out.statusWidth);
    if (!this.#out.isTerminal || shown === this.#line) return;
    this.#line = shown;
    this.#out.status(shown);
  }

  above(...lines: string[]): void {
    if (this.#line !== '') this.#out.status('');
    this.#out.note(...lines);
    if (this.#line !== '') this.#out.status(this.#line);
  }

  end(): void {
    if (this.#line !== '') this.#out.status('');
    this.#line = '';
  }
}
