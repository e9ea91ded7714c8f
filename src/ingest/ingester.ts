import type { Message, Refused, Session, Source } from '../brokers/source.ts';
import type { Enqueuer } from '../enqueue/enqueuer.ts';
import type { IngestMetrics } from '../metrics/ingest-metrics.ts';
import { sleep } from '../runtime/deadline.ts';
import type { Log } from '../runtime/log.ts';
import { Backoff } from '../runtime/persist.ts';
import type { Service } from '../runtime/service.ts';
import { StartRefusal } from '../runtime/start-refusal.ts';
import { storeJobs, type WaitReason } from './intake.ts';
import { type Mapping, readMessage } from './read-message.ts';

export interface IngesterOptions {
  source: Source;
  mapping: Mapping;
  /** Jobs of one transaction, at most. */
  batchMax: number;
  enqueuer: Enqueuer;
  newRequestId(): string;
  metrics: IngestMetrics;
  log: Log;
}

/** The session or the process ends: the broker sends the messages again. */
class GivenUp extends Error {
  override name = 'GivenUp';
}

/**
 * Takes messages, stores their jobs, and then acknowledges them. One batch at a time: while it is
 * stored, the broker sends the next messages, up to the prefetch. While it waits for the database,
 * the quota or the dead-letter target, nothing is acknowledged, so the broker sends no more.
 */
export class Ingester implements Service {
  readonly name = 'ingest';
  readonly #options: IngesterOptions;
  #stopping = new AbortController();
  #loop: Promise<void> | undefined;
  #warnedWithoutId = false;

  constructor(options: IngesterOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    if (this.#loop) return;
    await this.#options.source.load();
    this.#stopping = new AbortController();
    this.#loop = this.#run(this.#stopping.signal);
  }

  /** Finishes the batch that is being stored, and leaves the rest to the broker. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
    this.#loop = undefined;
  }

  async #run(stopping: AbortSignal): Promise<void> {
    const { source, log } = this.#options;
    const backoff = new Backoff();
    let lastReason: string | undefined;
    while (!stopping.aborted) {
      try {
        const session = await source.open(stopping);
        lastReason = undefined;
        log.info({ source: source.name }, 'consuming');
        await this.#serve(session, backoff, stopping);
        if (!stopping.aborted) log.warn({ source: source.name }, 'lost the broker');
      } catch (error) {
        if (error instanceof StartRefusal) throw error;
        const reason = error instanceof Error ? error.message : String(error);
        const level = reason === lastReason ? 'debug' : 'warn';
        lastReason = reason;
        log[level]({ source: source.name, reason }, 'cannot consume; trying again');
      }
      await sleep(backoff.next(), stopping);
    }
  }

  async #serve(session: Session, backoff: Backoff, stopping: AbortSignal): Promise<void> {
    const { metrics } = this.#options;
    metrics.session(session);
    try {
      for (;;) {
        const messages = await session.take(this.#options.batchMax, stopping);
        if (messages.length === 0) return;
        await this.#ingest(session, messages, stopping);
        // Not before a batch has worked: a broker may accept connections and end them at once.
        backoff.reset();
      }
    } catch (error) {
      if (!(error instanceof GivenUp)) throw error;
    } finally {
      metrics.session(null);
      await session.close();
    }
  }

  async #ingest(session: Session, messages: Message[], stopping: AbortSignal): Promise<void> {
    const { mapping, enqueuer, metrics, newRequestId } = this.#options;
    const wait = this.#waiting(session, stopping);
    const deadLetter = async (message: Message, why: Refused) =>
      await this.#deadLetter(session, message, why, wait);
    const good: { message: Message; job: Parameters<typeof storeJobs>[1][number] }[] = [];
    for (const message of messages) {
      const read = readMessage(message, mapping, newRequestId);
      if (!read.ok) {
        await deadLetter(message, read);
        continue;
      }
      if (!read.hasId) this.#noteWithoutId();
      good.push({ message, job: read.job });
    }
    const fates = await storeJobs(
      enqueuer,
      good.map(({ job }) => job),
      wait,
    );
    metrics.batch(good.length);
    for (const [index, fate] of fates.entries()) {
      const message = good[index]?.message;
      if (typeof fate === 'string') metrics.message(fate);
      else if (message) await deadLetter(message, fate);
    }
    await session.settle(messages);
  }

  async #deadLetter(
    session: Session,
    message: Message,
    why: Refused,
    wait: (reason: 'dead-letter', error: unknown) => Promise<void>,
  ): Promise<void> {
    const { source, metrics, log } = this.#options;
    const { code, detail } = why;
    for (;;) {
      try {
        await session.deadLetter(message, { code, detail });
        break;
      } catch (error) {
        await wait('dead-letter', error);
      }
    }
    metrics.message('dead-lettered');
    // Without the detail, which may repeat the body.
    log.warn({ source: source.name, messageId: message.id, code }, 'dead letter');
  }

  #noteWithoutId(): void {
    const { source, metrics, log } = this.#options;
    metrics.withoutId();
    if (this.#warnedWithoutId) return;
    this.#warnedWithoutId = true;
    const words = 'messages without an id: one that the broker sends again makes a second job';
    log.warn({ source: source.name }, words);
  }

  /** One for each batch: the delay grows, and each reason is a warning once. */
  #waiting(session: Session, stopping: AbortSignal) {
    const { source, metrics, log } = this.#options;
    const backoff = new Backoff();
    const warned = new Set<string>();
    return async (reason: WaitReason | 'dead-letter', error: unknown): Promise<void> => {
      if (stopping.aborted || !session.isOpen) throw new GivenUp();
      metrics.wait(reason);
      const pauseMs = backoff.next();
      const level = warned.has(reason) ? 'debug' : 'warn';
      warned.add(reason);
      log[level]({ source: source.name, reason, pauseMs, err: error }, 'waiting: nothing is taken');
      await sleep(pauseMs, stopping);
      if (stopping.aborted || !session.isOpen) throw new GivenUp();
    };
  }
}
