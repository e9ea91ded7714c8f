import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { Log } from '../runtime/log.ts';

/**
 * Forwards the server's stderr to the log, and keeps the last lines, which say why a start failed.
 * The pipe is always read: a full pipe would block the whole server.
 */
export class ServerLog {
  readonly #tail: string[] = [];
  readonly #log: Log;
  #loud = false;
  #attentive = false;
  readonly closed: Promise<void>;

  /** Without a stream when the process could not be spawned. */
  constructor(stderr: Readable | null | undefined, log: Log) {
    this.#log = log;
    const lines = createInterface({ input: stderr ?? Readable.from([]) });
    lines.on('line', (line) => this.#take(line));
    this.closed = new Promise((resolve) => lines.once('close', () => resolve()));
  }

  /**
   * Errors are warnings only while the server is up. Before that, the caller of the start reports
   * the failure once; afterwards every session ends with a FATAL that adds nothing.
   */
  set attentive(isUp: boolean) {
    this.#attentive = isUp;
  }

  get text(): string {
    return this.#tail.join('\n');
  }

  /** The line with the error, for people. */
  get lastComplaint(): string | undefined {
    return this.#tail.findLast((line) => /^(FATAL|PANIC):/.test(line)) ?? this.#tail.at(-1);
  }

  #take(line: string): void {
    this.#tail.push(line);
    if (this.#tail.length > 40) this.#tail.shift();
    // DETAIL, HINT, STATEMENT and tab-indented lines continue the previous message.
    const severity = /^([A-Z]+\d?):  /.exec(line)?.[1] ?? '';
    if (/^(ERROR|FATAL|PANIC)$/.test(severity)) this.#loud = true;
    else if (/^(LOG|INFO|NOTICE|WARNING|DEBUG\d?)$/.test(severity)) this.#loud = false;
    if (this.#loud && this.#attentive) this.#log.warn({ postgres: line }, 'postgres');
    else this.#log.debug({ postgres: line }, 'postgres');
  }
}
