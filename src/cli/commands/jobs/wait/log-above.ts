import type { JobHandle, JobLog } from '../../../../client/index.ts';
import type { LiveStatus } from '../../../text/live-status.ts';
import { logText } from '../../../text/jobs/log-text.ts';
import type { Output } from '../../../text/output.ts';

/** Ids to know a line again by. */
const KNOWN_MAX = 10_000;

/** The log of a job above its status line. It is an extra: where it cannot be read, the job is awaited all the same. */
export class LogAbove {
  readonly #out: Output;
  readonly #handle: JobHandle;
  readonly #status: LiveStatus;
  readonly #signal: AbortSignal;
  #known = new Set<string>();
  #last: string | undefined;

  constructor(out: Output, handle: JobHandle, status: LiveStatus, signal: AbortSignal) {
    this.#out = out;
    this.#handle = handle;
    this.#status = status;
    this.#signal = signal;
  }

  /** Shows lines as they come, until the job has ended. */
  async follow(): Promise<void> {
    try {
      const lines = this.#handle.logs({ follow: true, signal: this.#signal });
      for await (const line of lines) this.#show(line);
    } catch (error) {
      if (this.#signal.aborted) return;
      this.#status.above(`The log cannot be followed: ${(error as Error).message}`);
    }
  }

  /** Shows what is stored by now: all lines of an attempt are, before its end is. */
  async catchUp(): Promise<void> {
    try {
      const lines = this.#handle.logs({ cursor: this.#last, signal: this.#signal });
      for await (const line of lines) this.#show(line);
    } catch {
      // The follower says so.
    }
  }

  #show(line: JobLog): void {
    if (this.#known.has(line.id)) return;
    if (this.#known.size >= KNOWN_MAX) {
      this.#known = new Set([...this.#known].slice(KNOWN_MAX / 2));
    }
    this.#known.add(line.id);
    this.#last = line.id;
    this.#status.above(...logText(this.#out, line, 'stderr'));
  }
}
