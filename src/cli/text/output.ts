import { once } from 'node:events';
import { styleText } from 'node:util';
import { printableJson, printableText } from '../../core/values/printable.ts';
import { type GivenFlags, nextCommand } from './next-command.ts';

export interface OutputOptions {
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream;
  json: boolean;
  quiet: boolean;
  color: boolean;
  /** Repeated in commands that the output names. */
  given?: GivenFlags;
}

type Format = Parameters<typeof styleText>[0];

/** Data goes to stdout; messages go to stderr. */
export class Output {
  readonly json: boolean;
  readonly #options: OutputOptions;

  constructor(options: OutputOptions) {
    this.json = options.json;
    this.#options = options;
  }

  lines(lines: readonly string[]): void {
    if (lines.length > 0) this.#options.stdout.write(`${lines.join('\n')}\n`);
  }

  /** A part of a text, which may end in the middle of a line. On a screen it is made safe. */
  part(text: string): void {
    this.#options.stdout.write(this.isScreen ? printableText(text) : text);
  }

  /** The first line is the header. */
  table([header = '', ...lines]: readonly string[]): void {
    this.lines([this.paint('bold', header), ...lines]);
  }

  /** One JSON document. */
  document(value: unknown): void {
    this.#options.stdout.write(`${printableJson(value, 2)}\n`);
  }

  /** One JSON document per line, for streams. */
  record(value: unknown): void {
    this.#options.stdout.write(`${printableJson(value)}\n`);
  }

  /** Resolves when stdout can take more: a pipe may be slower than its source. */
  async drained(): Promise<void> {
    const { stdout } = this.#options;
    if ('writableNeedDrain' in stdout && stdout.writableNeedDrain) await once(stdout, 'drain');
  }

  /** A hint; silenced by --quiet and --json. */
  note(...lines: string[]): void {
    if (!this.#options.quiet && !this.json) this.trouble(...lines);
  }

  /** A command to run next, such as `show ID`, for the same server and tenant. */
  readonly next = (command: string): string => nextCommand(command, this.#options.given ?? {});

  /** Prints the cursor of the next page, if there is one. */
  noteMore(nextCursor: string | null): void {
    if (nextCursor !== null) this.note(`Next page: --cursor ${nextCursor}`);
  }

  /** A line that replaces itself; an empty one clears it. */
  status(line: string): void {
    if (!this.#options.quiet && !this.json) this.#options.stderr.write(`\r\u001b[2K${line}`);
  }

  /** Printed even with --quiet. */
  trouble(...lines: string[]): void {
    this.#options.stderr.write(`${lines.join('\n')}\n`);
  }

  /** Width of the terminal, or Infinity without one. */
  get width(): number {
    const { stdout } = this.#options;
    const columns = 'columns' in stdout && typeof stdout.columns === 'number' ? stdout.columns : 0;
    // A terminal of unknown size reports 0.
    return columns > 0 ? columns : Infinity;
  }

  /** Width for `status`, so that its line does not wrap. */
  get statusWidth(): number {
    const { stderr } = this.#options;
    const columns = 'columns' in stderr && typeof stderr.columns === 'number' ? stderr.columns : 0;
    return columns > 0 ? columns : 80;
  }

  /** Whether a person reads the messages. */
  get isTerminal(): boolean {
    const { stderr } = this.#options;
    return 'isTTY' in stderr && stderr.isTTY === true;
  }

  /** Whether a person reads the data. */
  get isScreen(): boolean {
    const { stdout } = this.#options;
    return 'isTTY' in stdout && stdout.isTTY === true;
  }

  /** Colours on terminals only: `styleText` checks the stream and NO_COLOR. */
  paint(format: Format, text: string, to: 'stdout' | 'stderr' = 'stdout'): string {
    if (!this.#options.color) return text;
    return styleText(format, text, { stream: this.#options[to] });
  }
}
