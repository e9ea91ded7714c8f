import { randomUUID } from 'node:crypto';
import { Unmet } from '../check.ts';
import type { Clock } from '../../runtime/clock.ts';
import {
  type Call,
  callsOf,
  type CallOf,
  describeCalls,
  names,
  outcomesIn,
  type Reported,
  takingTurns,
} from './calls.ts';
import type { PlayedJob } from './memory-queue.ts';
import type { Plan, Player } from './player.ts';

/** The definitions that a worker under test serves. */
export const ECHO = 'conformance.echo';
export const FAIL = 'conformance.fail';
export const WAIT = 'conformance.wait';
export const KEYS = [ECHO, FAIL, WAIT];

const PATIENCE_MS = 30_000;

/** What the checks of a worker use: jobs for it, faults, and waiting for its calls. */
export class Stage {
  readonly player: Player;
  readonly clock: Clock;
  readonly #patienceMs: number;
  /** Why no more calls can come; null while the worker runs. */
  ended: string | null = null;

  constructor(player: Player, clock: Clock, patienceMs = PATIENCE_MS) {
    this.#patienceMs = patienceMs;
    this.player = player;
    this.clock = clock;
  }

  get calls(): readonly Call[] {
    return this.player.calls;
  }

  /** Waits until calls of the worker make it true. */
  async until<T>(
    expected: string,
    find: () => T | null | undefined | false,
    patienceMs = this.#patienceMs,
  ): Promise<T> {
    const untilMs = this.clock.monotonicMs() + patienceMs;
    const timer = setTimeout(() => this.player.touch(), patienceMs + 1);
    const from = this.calls.length;
    try {
      for (;;) {
        const found = find();
        if (found !== null && found !== undefined && found !== false) return found;
        const late = this.clock.monotonicMs() >= untilMs;
        const came = this.ended ?? (late ? describeCalls(this.calls.slice(from)) : null);
        if (came !== null) throw new Unmet(expected, came);
        await this.player.changed();
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** The registered worker, when it has an open turn with room. */
  async ready(patienceMs?: number): Promise<CallOf<'turn'>> {
    return await this.until(
      'an open turn with room and waitMs',
      () =>
        takingTurns(this.calls).findLast(
          ({ instance, endedAt, fault, body }) =>
            endedAt === null &&
            fault === null &&
            (body?.waitMs ?? 0) > 0 &&
            this.player.queue.workers.has(instance),
        ),
      patienceMs,
    );
  }

  slotsOf(instance: string): number {
    return this.player.queue.workers.get(instance)?.slots ?? 1;
  }

  add(key: string, params: unknown = {}): PlayedJob {
    const job = { id: randomUUID(), key, paramsJson: JSON.stringify(params) };
    const added = this.player.queue.add(job);
    this.player.touch();
    return added;
  }

  fault(plan: Plan): void {
    this.player.plans.push(plan);
  }

  /** Ends the waiting turn with `beat: true`. */
  news(instance: string): void {
    const worker = this.player.queue.workers.get(instance);
    if (worker) worker.news = true;
    this.player.touch();
  }

  cancel(job: PlayedJob): void {
    job.cancelled = true;
    if (job.owner !== null) this.news(job.owner);
  }

  outcomesOf({ id }: PlayedJob): Reported[] {
    return outcomesIn(this.calls).filter((one) => one.id === id);
  }

  async outcome(job: PlayedJob): Promise<Reported> {
    return await this.until(`an outcome of ${job.key}`, () => this.outcomesOf(job)[0]);
  }

  /** The server has accepted its outcome. */
  async over(job: PlayedJob): Promise<Reported> {
    return await this.until(
      `an outcome of ${job.key} that ends it`,
      () => (job.state === 'succeeded' || job.state === 'failed') && this.outcomesOf(job).at(-1),
    );
  }

  /** A job that runs: a heartbeat holds it. */
  async running(): Promise<PlayedJob> {
    await this.ready();
    const job = this.add(WAIT);
    await this.until(`a heartbeat that holds ${WAIT}`, () => this.beats(job).length > 0);
    return job;
  }

  /** The heartbeats that hold the job. */
  beats(job: PlayedJob): CallOf<'beat'>[] {
    return callsOf(this.calls, 'beat').filter(({ body }) => names(body?.holding ?? [], job));
  }

  async stop(job: PlayedJob): Promise<void> {
    if (job.state !== 'running') return;
    this.cancel(job);
    await this.over(job);
  }

  /** After a broken rule: the worker begins anew, without jobs and faults. */
  reset(): void {
    this.player.plans = [];
    for (const instance of this.player.queue.workers.keys()) this.player.queue.expire(instance);
    this.player.touch();
  }
}
