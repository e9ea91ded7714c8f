import { Counter, Histogram, Registry } from 'prom-client';
import { VERSION } from '../version.ts';
import { gauge, textOf } from './family.ts';
import { processFamilies } from './process-families.ts';

const BATCH_EDGES = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1_000];

/** What only a process of `longshore ingest` knows. */
export class IngestMetrics {
  readonly #registry = new Registry();
  readonly #source: string;
  readonly #messages: Counter;
  readonly #withoutId: Counter;
  readonly #waits: Counter;
  readonly #batch: Histogram;
  #session: { readonly unsettled: number } | null = null;

  constructor(source: string) {
    this.#source = source;
    const registers = [this.#registry];
    this.#messages = new Counter({
      name: 'longshore_ingest_messages_total',
      help: 'Messages by outcome: stored, duplicate or dead-lettered.',
      labelNames: ['source', 'outcome'],
      registers,
    });
    this.#withoutId = new Counter({
      name: 'longshore_ingest_without_id_total',
      help: 'Messages without an id, which are not recognised when they come again.',
      labelNames: ['source'],
      registers,
    });
    this.#waits = new Counter({
      name: 'longshore_ingest_waits_total',
      help: 'Pauses by reason: database, quota, dead-letter or error.',
      labelNames: ['source', 'reason'],
      registers,
    });
    this.#batch = new Histogram({
      name: 'longshore_ingest_batch_jobs',
      help: 'Jobs per transaction of this process.',
      labelNames: ['source'],
      buckets: BATCH_EDGES,
      registers,
    });
    for (const outcome of ['stored', 'duplicate', 'dead-lettered']) {
      this.#messages.inc({ source, outcome }, 0);
    }
    this.#withoutId.inc({ source }, 0);
  }

  message(outcome: 'stored' | 'duplicate' | 'dead-lettered'): void {
    this.#messages.inc({ source: this.#source, outcome });
  }

  withoutId(): void {
    this.#withoutId.inc({ source: this.#source });
  }

  wait(reason: string): void {
    this.#waits.inc({ source: this.#source, reason });
  }

  batch(jobs: number): void {
    if (jobs > 0) this.#batch.observe({ source: this.#source }, jobs);
  }

  /** Null while there is no connection. */
  session(session: { readonly unsettled: number } | null): void {
    this.#session = session;
  }

  async text(): Promise<string> {
    const labels = { source: this.#source };
    const now = [
      gauge('longshore_ingest_connected', 'Whether this process consumes: 1 or 0.', [
        { labels, value: this.#session ? 1 : 0 },
      ]),
      gauge(
        'longshore_ingest_unsettled_messages',
        'Messages that this process holds and that are not acknowledged.',
        [{ labels, value: this.#session?.unsettled ?? 0 }],
      ),
    ];
    const families = [...processFamilies(VERSION), ...now];
    return `${await textOf(families)}\n${await this.#registry.metrics()}`;
  }
}
