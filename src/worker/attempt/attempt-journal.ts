import type { LogLine, LogStream, Level } from '../../core/views/history.ts';
import type { NewEvent } from '../../store/attempt/events.ts';
import type { LogChunk } from '../../store/attempt/log-chunks.ts';
import type { ProgressUpdate } from '../../store/attempt/progress.ts';

/** A chunk is written at this size, events at this number, and everything once a second. */
const CHUNK_BYTES = 65_536;
const CHUNK_EVENTS = 100;
export const LINE_MAX = 16_384;
/** The overhead of a line beyond its text. */
const LINE_OVERHEAD = 40;
/** The most that may wait while the database is down or slower than the job. */
const PENDING_BYTES_MAX = 1_048_576;
const PENDING_EVENTS_MAX = 1_000;
const EVENTS_MAX = 10_000;

export interface NewLine {
  level: Level;
  stream: LogStream;
  message: string;
}

/** What an attempt has to write now. */
export interface Entry {
  chunks: LogChunk[];
  events: NewEvent[];
  progress: ProgressUpdate | null;
}

/**
 * The lines and events of one attempt that are not yet written. Everything is limited, and a line
 * says where something was left out: a job that floods its log only fills its own share.
 */
export class AttemptJournal {
  readonly #id: string;
  readonly #claim: number;
  readonly #attempt: number;
  readonly #logMaxBytes: number;
  #lines: LogLine[] = [];
  #pendingBytes = 0;
  #totalBytes = 0;
  #full = false;
  #leftOut = { lines: 0, events: 0 };
  #chunks = 0;
  #events: { event: Omit<NewEvent, 'ageMs'>; atMs: number }[] = [];
  #eventCount = 0;
  #progress: { fraction: number; message: string | null; atMs: number } | null = null;

  constructor(job: { id: string; claim: number; attempts: number }, logMaxBytes: number) {
    this.#id = job.id;
    this.#claim = job.claim;
    this.#attempt = job.attempts;
    this.#logMaxBytes = logMaxBytes;
  }

  /** Whether enough has gathered to write before the second is over. */
  get due(): boolean {
    return this.#pendingBytes > CHUNK_BYTES || this.#events.length > CHUNK_EVENTS;
  }

  get empty(): boolean {
    return this.#lines.length === 0 && this.#events.length === 0 && this.#progress === null;
  }

  line({ level, stream, message }: NewLine, atMs: number): void {
    if (this.#full) return;
    if (this.#pendingBytes > PENDING_BYTES_MAX) {
      this.#leftOut.lines += 1;
      return;
    }
    const cut = message.length - LINE_MAX;
    const text = cut > 0 ? `${message.slice(0, LINE_MAX)}… (${cut} characters cut)` : message;
    const bytes = Buffer.byteLength(text) + LINE_OVERHEAD;
    this.#totalBytes += bytes;
    if (this.#totalBytes > this.#logMaxBytes) {
      this.#full = true;
      this.#note(`… truncated: an attempt may log ${this.#logMaxBytes} bytes`, atMs);
      return;
    }
    this.#pendingBytes += bytes;
    this.#lines.push({ atMs, level, stream, message: text });
  }

  event(type: 'custom' | 'hook' | 'progress', payloadJson: string, atMs: number): void {
    if (this.#eventCount >= EVENTS_MAX) {
      if (this.#eventCount === EVENTS_MAX) this.#note(`… ${EVENTS_MAX} events were enough`, atMs);
      this.#eventCount += 1;
      return;
    }
    if (this.#events.length >= PENDING_EVENTS_MAX) {
      this.#leftOut.events += 1;
      return;
    }
    const n = this.#eventCount++;
    const event = {
      id: this.#id,
      claim: this.#claim,
      attempt: this.#attempt,
      n,
      type,
      payloadJson,
    };
    this.#events.push({ event, atMs });
  }

  /** Only the latest is kept; it becomes an event when it is written. */
  progress(fraction: number, message: string | null, atMs: number): void {
    this.#progress = { fraction, message, atMs };
  }

  /** Removes and returns what is to be written. */
  take(nowMs: number): Entry {
    const progress = this.#progress;
    this.#progress = null;
    if (progress) {
      const { fraction, message } = progress;
      this.event('progress', JSON.stringify({ fraction, message }), progress.atMs);
    }
    this.#tellLeftOut(nowMs);
    const chunks = this.#takeLines();
    const events = this.#events.map(({ event, atMs }) => ({
      ...event,
      ageMs: Math.max(0, nowMs - atMs),
    }));
    this.#events = [];
    return {
      chunks,
      events,
      progress: progress && {
        id: this.#id,
        claim: this.#claim,
        fraction: progress.fraction,
        message: progress.message,
      },
    };
  }

  /** At their position, also when nothing follows. */
  #tellLeftOut(nowMs: number): void {
    for (const [what, count] of Object.entries(this.#leftOut)) {
      if (count === 0) continue;
      this.#note(`… ${count} ${what} left out: they came quicker than they could be stored`, nowMs);
    }
    this.#leftOut = { lines: 0, events: 0 };
  }

  #takeLines(): LogChunk[] {
    if (this.#lines.length === 0) return [];
    const lines = this.#lines;
    this.#lines = [];
    this.#pendingBytes = 0;
    const n = this.#chunks++;
    return [{ id: this.#id, claim: this.#claim, attempt: this.#attempt, n, lines }];
  }

  #note(message: string, atMs: number): void {
    this.#lines.push({ atMs, level: 'warn', stream: 'system', message });
  }
}
