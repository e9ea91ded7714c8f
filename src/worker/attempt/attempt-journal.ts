import { chunksOf, STREAM_CHUNK_CHARS, STREAM_MAX_BYTES } from '../../core/logs/stream.ts';
import type { LogLine, LogStream, Level } from '../../core/views/history.ts';
import type { NewEvent } from '../../store/attempt/events.ts';
import type { LogChunk } from '../../store/attempt/log-chunks.ts';
import type { StreamChunk } from '../../store/attempt/stream-chunks.ts';
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
/** A step that runs for this long becomes an event, so that it can be seen. */
const STEP_SHOWN_MS = 1_000;

export interface NewLine {
  level: Level;
  stream: LogStream;
  message: string;
}

export type StepState = 'started' | 'stored' | 'failed';

/** What an attempt has to write now. */
export interface Entry {
  chunks: LogChunk[];
  events: NewEvent[];
  progress: ProgressUpdate | null;
}

/** The limits of what one attempt may write. */
export interface JournalLimits {
  logMaxBytes: number;
  streamMaxBytes?: number | undefined;
}

/**
 * The lines and events of one attempt that are not yet written. Everything is limited, and a line
 * says where something was left out: a job that floods its log only fills its own share.
 */
export class AttemptJournal {
  readonly #id: string;
  readonly #claim: number;
  readonly #attempt: number;
  readonly #limits: { logMaxBytes: number; streamMaxBytes: number };
  #lines: LogLine[] = [];
  #pendingBytes = 0;
  #totalBytes = 0;
  #full = false;
  #leftOut = { lines: 0, events: 0 };
  #chunks = 0;
  #events: { event: Omit<NewEvent, 'ageMs'>; atMs: number }[] = [];
  #eventCount = 0;
  #progress: { fraction: number; message: string | null; atMs: number } | null = null;

  /** When the steps started that run and are not an event yet. */
  readonly #steps = new Map<string, number>();
  readonly #shownSteps = new Set<string>();
  #stream: string[] = [];
  #streamChars = 0;
  #streamBytes = 0;
  #streamChunks = 0;

  constructor(
    job: { id: string; claim: number; attempts: number },
    { logMaxBytes, streamMaxBytes = STREAM_MAX_BYTES }: JournalLimits,
  ) {
    this.#id = job.id;
    this.#claim = job.claim;
    this.#attempt = job.attempts;
    this.#limits = { logMaxBytes, streamMaxBytes };
  }

  /** Whether enough has gathered to write before the second is over. */
  get due(): boolean {
    return this.#pendingBytes > CHUNK_BYTES || this.#events.length > CHUNK_EVENTS;
  }

  get empty(): boolean {
    return this.#lines.length === 0 && this.#events.length === 0 && this.#progress === null;
  }

  /** Whether `take` returns nothing at that time. */
  isEmpty(nowMs: number): boolean {
    return this.empty && ![...this.#steps.values()].some((atMs) => isShown(atMs, nowMs));
  }

  /** Nothing was ever written, and nothing is to be: a job of short steps need not wait for it. */
  get unused(): boolean {
    const written = this.#chunks + this.#eventCount + this.#streamChunks;
    return this.empty && !this.streams && written === 0;
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
    const { logMaxBytes } = this.#limits;
    if (this.#totalBytes > logMaxBytes) {
      this.#full = true;
      this.#note(`… truncated: an attempt may log ${logMaxBytes} bytes`, atMs);
      return;
    }
    this.#pendingBytes += bytes;
    this.#lines.push({ atMs, level, stream, message: text });
  }

  event(type: NewEvent['type'], payloadJson: string, atMs: number): void {
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

  step(step: string, state: StepState, atMs: number): void {
    if (state === 'started') this.#steps.set(step, atMs);
    else this.#steps.delete(step);
    const wasShown = state !== 'started' && this.#shownSteps.delete(step);
    if (wasShown && state === 'failed') this.event('step', JSON.stringify({ step, state }), atMs);
  }

  /** Only the latest is kept; it becomes an event when it is written. */
  progress(fraction: number, message: string | null, atMs: number): void {
    this.#progress = { fraction, message, atMs };
  }

  /** Whether the stream is large enough to be written at once. */
  get streamDue(): boolean {
    return this.#streamChars > STREAM_CHUNK_CHARS;
  }

  get streams(): boolean {
    return this.#stream.length > 0;
  }

  /** `ctx.stream` refuses too much text before this; another program may not. */
  stream(text: string, atMs: number): void {
    const { streamMaxBytes } = this.#limits;
    const wasFull = this.#streamBytes > streamMaxBytes;
    this.#streamBytes += Buffer.byteLength(text);
    if (this.#streamBytes <= streamMaxBytes) {
      this.#stream.push(text);
      this.#streamChars += text.length;
    } else if (!wasFull) {
      const limit = `an attempt may stream ${streamMaxBytes} bytes (LONGSHORE_STREAM_MAX_BYTES)`;
      this.#note(`… the stream is truncated: ${limit}`, atMs);
    }
  }

  /** Removes and returns the text that is to be written, as `keep` makes it. */
  takeStream(keep: (text: string) => string): StreamChunk[] {
    const texts = chunksOf(this.#stream);
    this.#stream = [];
    this.#streamChars = 0;
    return texts.map((text) => {
      const n = this.#streamChunks++;
      const data = keep(text);
      return { id: this.#id, claim: this.#claim, attempt: this.#attempt, n, data };
    });
  }

  /** Removes and returns what is to be written. */
  take(nowMs: number): Entry {
    const progress = this.#progress;
    this.#progress = null;
    if (progress) {
      const { fraction, message } = progress;
      this.event('progress', JSON.stringify({ fraction, message }), progress.atMs);
    }
    for (const [step, atMs] of this.#steps) {
      if (!isShown(atMs, nowMs)) continue;
      this.event('step', JSON.stringify({ step, state: 'started' }), atMs);
      this.#steps.delete(step);
      this.#shownSteps.add(step);
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

function isShown(startedMs: number, nowMs: number): boolean {
  return nowMs - startedMs >= STEP_SHOWN_MS;
}
