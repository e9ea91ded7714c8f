import type { Clock } from '../../runtime/clock.ts';

/** More are not remembered; then the oldest go first. */
const ANSWERS_MAX = 10_000;

/**
 * Answers of the database that may be a little old. Each is asked for at most once at a time, and its
 * age is counted from before it was asked for, so that it is never older than it claims.
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
    // Put at the end again, so that the first entry is always the oldest.
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

  /** Whether it was ever asked, and not forgotten since. */
  has(question: string): boolean {
    return this.#known.has(question);
  }

  /** The next question is asked anew. */
  forget(question: string): void {
    this.#known.delete(question);
  }
}
