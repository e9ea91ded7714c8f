import { once } from 'node:events';
import { styleText } from 'node:util';
import { printableJson } from './printable.ts';

export interface OutputOptions {
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream;
  json: boolean;
  quiet: boolean;
  color: boolean;
}

type Format = Parameters<typeof styleText>[0];

/** Data goes to stdout, where it can be piped onwards; everything said about it goes to stderr. */
export class Output {
  readonly json: boolean;
  readonly #options: OutputOptions;

  constructor(options: OutputOptions) {
    this.json = options.json;
    this.#options = options;
  }

  /** Lines for people and for `grep`. */
  lines(lines: readonly string[]): void {
    if (lines.length > 0) this.#options.stdout.write(`${lines.join('\n')}\n`);
  }

  /** Lines of which the first says what is in the columns. */
  table([header = '', ...lines]: readonly string[]): void {
    this.lines([this.paint('bold', header), ...lines]);
  }

  /** One JSON document for programs. */
  document(value: unknown): void {
    this.#options.stdout.write(`${printableJson(value, 2)}\n`);
  }

  /** One of many documents, each on a line of its own, so that they can be read as they come. */
  record(value: unknown): void {
    this.#options.stdout.write(`${printableJson(value)}\n`);
  }

  /** Resolves when what was written has found its reader: a pipe may be slower than its source. */
  async drained(): Promise<void> {
    const { stdout } = this.#options;
    if ('writableNeedDrain' in stdout && stdout.writableNeedDrain) await once(stdout, 'drain');
  }

  /** Good to know, and silenced by --quiet. Programs that asked for JSON do not read it. */
  note(...lines: string[]): void {
    if (!this.#options.quiet && !this.json) this.trouble(...lines);
  }

  /** How to see the next page, if there is one. */
  noteMore(nextCursor: string | null): void {
    if (nextCursor !== null) this.note(`There are more: --cursor ${nextCursor}`);
  }

  /** One line that replaces itself, for a person who waits. An empty one wipes it away. */
  status(line: string): void {
    if (!this.#options.quiet && !this.json) this.#options.stderr.write(`\r\u001b[2K${line}`);
  }

  /** Must be known. */
  trouble(...lines: string[]): void {
    this.#options.stderr.write(`${lines.join('\n')}\n`);
  }

  /** The width of the terminal, or no limit where there is none. */
  get width(): number {
    const { stdout } = this.#options;
    const columns = 'columns' in stdout && typeof stdout.columns === 'number' ? stdout.columns : 0;
    // A terminal that nobody has told its size says 0.
    return columns > 0 ? columns : Infinity;
  }

  get isTerminal(): boolean {
    const { stderr } = this.#options;
    return 'isTTY' in stderr && stderr.isTTY === true;
  }

  /** Colours only where a person looks: `styleText` asks the stream, and knows NO_COLOR. */
  paint(format: Format, text: string, to: 'stdout' | 'stderr' = 'stdout'): string {
    if (!this.#options.color) return text;
    return styleText(format, text, { stream: this.#options[to] });
  }
}
