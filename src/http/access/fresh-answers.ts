import type { Clock } from '../../runtime/clock.ts';

/** Maximum number of cached answers; the oldest are dropped first. */
const ANSWERS_MAX = 10_000;

/**
 * A cache of query results with a maximum age. Each query runs at most once at a time, and its age
 * counts from before it was sent, so a result is never older than claimed.
 */
export class FreshAnswers<Answer> {
  readonly #clock: Clock;
  readonly #freshMs: number;
  readonly #known = new Map<string, { askedAtMs: number; answer: Promise<Answer> }>();

  constructor(clock: Clock, freshMs: number) {
    this.#clock = clock;
    this.#freshMs = freshMs;
  }

  async get(question: string, ask: () => Promise<Answer>): Promise<Answer> {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#known.get(question);
    if (known && nowMs - known.askedAtMs < this.#freshMs) return await known.answer;
    const fresh = { askedAtMs: nowMs, answer: ask() };
    // Moved to the end, so that the first entry is the oldest.
    this.#known.delete(question);
    this.#known.set(question, fresh);
    const [oldest] = this.#known.keys();
    if (this.#known.size > ANSWERS_MAX && oldest !== undefined) this.#known.delete(oldest);
    try {
      return await fresh.answer;
    } catch (error) {
      if (this.#known.get(question) === fresh) this.#known.delete(question);
      throw error;
    }
  }

  has(question: string): boolean {
    return this.#known.has(question);
  }

  forget(question: string): void {
    this.#known.delete(question);
  }
}
