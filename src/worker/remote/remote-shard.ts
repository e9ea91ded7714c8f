import type { Clock } from '../../runtime/clock.ts';
import { sleep } from '../../runtime/deadline.ts';
import type { Round, ShardQueue } from '../claim/work-queue.ts';
import { isRefusedOutcome, type Turns } from './turns.ts';

/** A proxy that is less patient makes waits shorter, down to this; they grow again by the step. */
const WAIT_MS_MIN = 5_000;
const WAIT_MS_STEP = 1_000;
/** Workers that started together do not call together. */
const JITTER = 0.2;
const CLOSE_TRIES = 3;
const CLOSE_PAUSE_MS = 250;

interface Waits {
  waitMs: number;
  idle?: boolean;
  signal?: AbortSignal;
}

/** All jobs of a remote worker. */
export class RemoteShard implements ShardQueue {
  readonly shard = 0;
  readonly dueInMs = Infinity;
  readonly expectsFew = false;
  readonly refills = false;
  readonly #turns: Turns;
  readonly #clock: Clock;
  #full = false;
  /** A turn had no answer: it may have claimed jobs. */
  #uncertain = false;
  #instance = '';
  #taking = 0;
  /** The last wait brought nothing. */
  #quiet = false;
  readonly #waits = new Set<AbortController>();
  /** The longest wait that has a chance to be answered. */
  #waitMsMax = Number.POSITIVE_INFINITY;

  constructor(turns: Turns, clock: Clock) {
    this.#turns = turns;
    this.#clock = clock;
  }

  /** The last turn was answered with as many jobs as there was room for. */
  get hasWork(): boolean {
    return this.#full;
  }

  hint(): boolean {
    return false;
  }

  /** The definitions have changed: a turn that waits for the former ones ends. */
  pollSoon(): void {
    for (const wait of this.#waits) wait.abort();
  }

  async refresh(): Promise<void> {}

  readonly round = async (round: Round): Promise<number> => await this.#take(round);

  /** A worker that holds nothing, and got nothing for a while, rests: its turn renews its lease. */
  readonly wait = async (round: Round, signal: AbortSignal): Promise<number> => {
    const { rests, holdsNothing } = this.#turns;
    const idle =
      this.#quiet && holdsNothing && this.#taking === 0 && !this.#uncertain && rests.waitMs > 0;
    const longestMs = Math.min(this.#waitMsMax, idle ? rests.waitMs : this.#turns.waitMsMax);
    const waitMs = Math.round(longestMs * (1 - JITTER * this.#clock.random()));
    const sentMs = this.#clock.monotonicMs();
    const wait = new AbortController();
    const end = () => wait.abort();
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    this.#waits.add(wait);
    try {
      const claimed = await this.#take(round, { waitMs, idle, signal: wait.signal });
      this.#quiet = claimed === 0;
      this.#waitMsMax += WAIT_MS_STEP;
      return claimed;
    } catch (error) {
      if (wait.signal.aborted && !signal.aborted) return 0;
      const wasCut = !signal.aborted && this.#clock.monotonicMs() - sentMs > waitMs / 4;
      if (wasCut) this.#waitMsMax = Math.max(WAIT_MS_MIN, waitMs / 2);
      throw error;
    } finally {
      this.#waits.delete(wait);
      signal.removeEventListener('abort', end);
    }
  };

  /**
   * Gives back what a turn without an answer may have claimed. A server that does not answer must
   * not keep the worker from its drain, during which heartbeats return what they find.
   */
  async close(): Promise<void> {
    for (let tries = 0; tries < CLOSE_TRIES && this.#uncertain; tries += 1) {
      if (tries > 0) await sleep(CLOSE_PAUSE_MS);
      await this.#turns.returnUnheld(this.#instance).then(
        () => (this.#uncertain = false),
        () => undefined,
      );
    }
  }

  async #take(round: Round, waits: Waits = { waitMs: 0 }): Promise<number> {
    const { outbox, instance, limit, accept } = round;
    this.#instance = instance;
    const batch = this.#turns.fits(round.batch, instance) ? round.batch : [];
    if (batch.length < round.batch.length) await outbox.write(this.shard, round.batch);
    // While another turn is in flight, its jobs are neither held nor lost.
    const declares = limit > 0 && this.#uncertain && this.#taking === 0;
    if (declares) this.#uncertain = false;
    if (limit > 0) this.#taking += 1;
    try {
      const waitMs = declares ? 0 : waits.waitMs;
      const turn = { ...waits, instance, batch, room: limit, declares, waitMs };
      const { results, jobs } = await this.#turns.take(turn).catch(async (error: unknown) => {
        if (!isRefusedOutcome(error) || batch.length === 0) throw error;
        // One by one, in calls that take no jobs: a refused turn has stored and claimed nothing.
        if (declares) this.#uncertain = true;
        return { results: await this.#turns.write(batch, instance), jobs: [] };
      });
      accept(jobs);
      outbox.conclude(this.shard, batch, results);
      // A turn that declares gets only what was lost.
      if (limit > 0) this.#full = declares || jobs.length >= limit;
      return jobs.length;
    } catch (error) {
      if (limit > 0) this.#uncertain = true;
      this.#full = false;
      outbox.putBack(this.shard, batch);
      throw error;
    } finally {
      if (limit > 0) this.#taking -= 1;
    }
  }
}
