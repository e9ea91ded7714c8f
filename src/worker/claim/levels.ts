import type { DefinitionInfo } from '../../core/definition/definition.ts';
import {
  claimVisits,
  fairPart,
  type Level,
  orderLevels,
  refillVisit,
} from '../../core/queue/claim-order.ts';
import { FairShare } from '../../core/queue/fair-share.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ClaimedJob, ClaimLevel } from '../../store/claim/claim.ts';
import { FEW } from '../../store/claim/few.ts';
import type { ServedQueue } from '../../store/enqueue/queues.ts';
import type { Settlement } from '../../store/claim/settle.ts';
import { QUEUES_CHANGED, type LevelHint } from '../../store/connection/wake.ts';
import { PollInterval } from './poll-interval.ts';
import type { WorkerStore } from './port.ts';
import { type Taken, takenFrom } from './taken.ts';
import type { Accepted, Capacity, ServedDefinitions } from './work-queue.ts';

/**
 * What a worker knows of one shard: which levels have work, and how far each has been read. Hints
 * add levels between polls; a poll of the index once a second is the fallback (`poll-interval.ts`).
 *
 * The floor of a level is the highest seq taken from it, less 50 ms for commits out of order. A job
 * that committed even later is found by the next poll, which lowers all floors.
 *
 * Levels whose queue has limiters, or whose starts have a webhook, are claimed by another
 * statement, which reports closed limiters. A level with a closed limiter is *shut out*: not
 * visited again until a permit is returned (as known from hints), the rate allows a start, or the
 * next poll.
 */

const FLOOR_SLACK_MICROS = 50_000;

interface KnownLevel extends Level {
  /**
   * Another number after every hint and poll, so that a claim does not forget work that was announced
   * or found meanwhile.
   */
  hints: number;
  /** The poll before it was added. */
  polls: number;
  limited: boolean;
}

/** Levels that one claim visits. */
export interface Visit {
  levels: readonly (KnownLevel & ClaimLevel)[];
  limited: boolean;
}

export const NO_LEVELS: Visit = { levels: [], limited: false };

export class Levels {
  readonly shard: number;
  readonly #queue: WorkerStore;
  readonly #clock: Clock;
  readonly #definitions: ServedDefinitions;
  readonly #pollInterval: PollInterval;
  #queues = new Map<number, ServedQueue>();
  #served = new Map<number, DefinitionInfo>();
  readonly #known = new Map<string, KnownLevel>();
  readonly #shutOut = new Map<string, KnownLevel>();
  #opensAtMs = Infinity;
  /** A claim from limited levels is in progress: a second one would only wait for its row locks. */
  #claimsLimited = false;
  readonly #floors = new Map<string, number>();
  /** Whether the last claim from plain levels read them to the end and found few jobs. */
  #quiet = false;
  #hints = 0;
  #polls = 0;
  #pollAgain = false;
  /** Announced queues that are not known yet; and queues that this worker does not serve. */
  readonly #asked = new Set<number>();
  readonly #foreign = new Set<number>();
  #hintsWhilePolling: LevelHint[] | undefined;
  readonly #shares = new FairShare();
  readonly #ageingMs: number;
  /** Since when each level has work and was not served; only with ageing. */
  readonly #since = new Map<string, number>();

  constructor(
    shard: number,
    queue: WorkerStore,
    definitions: ServedDefinitions,
    clock: Clock,
    pollMs: number,
    ageingMs = 0,
    quietMs = pollMs,
  ) {
    this.shard = shard;
    this.#queue = queue;
    this.#definitions = definitions;
    this.#clock = clock;
    this.#pollInterval = new PollInterval(pollMs, quietMs);
    this.#ageingMs = ageingMs;
  }

  accepted(job: ClaimedJob): Accepted {
    const definition = this.#served.get(job.queue);
    if (!definition) throw new Error(`claimed ${job.id} from a queue that is not served`);
    const { tenant = '', secretsMark = null } = this.#queues.get(job.queue) ?? {};
    return { job, definition, tenant, secretsMark };
  }

  /**
   * An unknown queue may be new and ours: the next poll decides. False: it is a queue of others, such as
   * one of user jobs for the loop of system jobs.
   */
  hint(hint: LevelHint): boolean {
    this.#hintsWhilePolling?.push(hint);
    this.#pollInterval.hinted(this.#clock.monotonicMs());
    if (hint.queue === QUEUES_CHANGED) {
      this.pollSoon();
      return true;
    }
    this.#reopen(hint.queue);
    if (this.#queues.has(hint.queue)) this.#add(hint.queue, hint.rank);
    else if (!this.#foreign.has(hint.queue)) this.#asked.add(hint.queue);
    else return false;
    return true;
  }

  pollSoon(): void {
    this.#pollAgain = true;
  }

  async pollIfDue(): Promise<void> {
    const startMs = this.#clock.monotonicMs();
    if (startMs >= this.#opensAtMs) this.#reopen(null);
    if (!this.#pollInterval.isDue(startMs) && !this.#pollAgain && this.#asked.size === 0) return;
    const asked = [...this.#asked];
    this.#asked.clear();
    this.#pollAgain = false;
    // A hint during a poll may be about a commit that the poll did not see.
    this.#hintsWhilePolling = [];
    const { list } = this.#definitions;
    const queues = await this.#queue.queues(this.shard, list);
    this.#queues = new Map(queues.map((queue) => [queue.queue, queue]));
    this.#served = new Map(
      queues.flatMap(({ queue, key, version }) => {
        const found = list.find((one) => one.key === key && one.version === version);
        return found ? [[queue, found]] : [];
      }),
    );
    for (const queue of asked) if (!this.#queues.has(queue)) this.#foreign.add(queue);
    this.#polls += 1;
    this.#floors.clear();
    this.#known.clear();
    this.#shutOut.clear();
    this.#opensAtMs = Infinity;
    for (const { queue, ranks } of queues) for (const rank of ranks) this.#add(queue, rank);
    const announced = this.#hintsWhilePolling;
    this.#hintsWhilePolling = undefined;
    for (const hint of announced) this.hint(hint);
    for (const name of this.#since.keys()) if (!this.#known.has(name)) this.#since.delete(name);
    const found = queues.some(({ ranks }) => ranks.length > 0);
    this.#pollInterval.polled(startMs, this.#clock.monotonicMs(), found);
  }

  /**
   * The levels that the next round visits, best first: plain ones, and limited ones if one of them is
   * first. `part` is the fair part of the limited ones.
   */
  next(): { plain: Visit; limited: Visit; part: number } {
    const visits = claimVisits(this.#inOrder());
    const of = (kind: boolean) => visits.find(([first]) => first?.limited === kind) ?? [];
    const plain = { levels: of(false), limited: false };
    const [first, ...others] = this.#claimsLimited ? [] : of(true);
    if (!first) return { plain, limited: NO_LEVELS, part: 0 };
    const equals = [first, ...others.filter(({ rank }) => rank <= first.rank)];
    const part = fairPart(equals, plain.levels, ({ queue }) => this.#ownerOf(queue).weight);
    return { plain, limited: { levels: [first, ...others], limited: true }, part };
  }

  /**
   * The levels that may use the permits of these jobs again, and how many jobs they may claim, so that
   * they do not take more than their part of the slots from levels that are as urgent. Without
   * `capacity`, only if one of them is first.
   */
  refill(returned: readonly ClaimedJob[], capacity?: Capacity): { visit: Visit; most: number } {
    if (this.#claimsLimited) return { visit: NO_LEVELS, most: 0 };
    if (!capacity) return { visit: this.next().limited, most: returned.length };
    const limitersOf = (queue: number) => this.#queues.get(queue)?.limiters ?? [];
    const limiters = new Set(returned.flatMap(({ queue }) => limitersOf(queue)));
    const shares = ({ queue }: { queue: number }) =>
      limitersOf(queue).some((limiter) => limiters.has(limiter));
    const { levels, part } = refillVisit(
      [...this.#known.values()],
      shares,
      this.#shares,
      ({ queue }) => this.#ownerOf(queue).weight,
      this.#agedMs(),
    );
    const visit = { levels: levels.map((level) => this.#withFloor(level)), limited: true };
    if (part === 1) return { visit, most: returned.length };
    const theirs = capacity.running().filter(({ job }) => shares(job)).length;
    const most = Math.floor(part * capacity.slots) - theirs;
    return { visit, most: Math.max(0, Math.min(most, returned.length)) };
  }

  /** Claims at most `limit` jobs. */
  async claim({ levels, limited }: Visit, limit: number, instance: string): Promise<ClaimedJob[]> {
    if (!limited) {
      const most = this.#mostOf(levels, limit);
      const jobs = await this.#queue.claim(this.shard, most, instance, levels);
      return this.#learnPlain(levels, jobs, most);
    }
    this.#claimsLimited = true;
    try {
      const { jobs, shutQueues, opensInMs, more } = await this.#queue.claimLimited(
        this.shard,
        limit,
        instance,
        levels,
      );
      this.#shut(
        levels.filter(({ queue }) => shutQueues.includes(queue)),
        opensInMs,
      );
      return this.#learn(levels, jobs, !more);
    } finally {
      this.#claimsLimited = false;
    }
  }

  /** Writes plain successes and claims from plain levels, in one statement. */
  async settleAndClaim(
    { levels }: Visit,
    limit: number,
    instance: string,
    settlements: readonly Settlement[],
  ): Promise<{ settled: Set<string> | null; jobs: ClaimedJob[] }> {
    const most = settlements.length > FEW ? limit : this.#mostOf(levels, limit);
    const batch = { settlements, limit: most, instance, levels };
    const { settled, jobs } = await this.#queue.settleAndClaim(this.shard, batch);
    return { settled, jobs: this.#learnPlain(levels, jobs, most) };
  }

  /** Its last claim found few jobs, and one level has work. */
  get expectsFew(): boolean {
    return this.#quiet && this.#known.size <= 1;
  }

  /** How many jobs to ask for: few where few are expected, because such a claim is cheap. */
  #mostOf(levels: readonly KnownLevel[], limit: number): number {
    return this.#quiet && levels.length === 1 ? Math.min(FEW, limit) : limit;
  }

  #learnPlain(visited: readonly KnownLevel[], jobs: ClaimedJob[], most: number): ClaimedJob[] {
    if (visited.length > 0) this.#quiet = jobs.length < most && jobs.length <= FEW;
    return this.#learn(visited, jobs, jobs.length < most);
  }

  #inOrder(): (KnownLevel & ClaimLevel)[] {
    const nowMs = this.#clock.monotonicMs();
    const agedMs = this.#agedMs();
    const ordered = orderLevels([...this.#known.values()], this.#shares, agedMs);
    return ordered.map((level) => {
      // An aged level goes first; that counts as served, whatever it finds.
      if (level.sinceMs <= agedMs) this.#servedAt(level, nowMs);
      return this.#withFloor(level);
    });
  }

  /** Levels that were not served since then go first. */
  #agedMs(): number {
    return this.#ageingMs === 0 ? -Infinity : this.#clock.monotonicMs() - this.#ageingMs;
  }

  #withFloor(level: KnownLevel): KnownLevel & ClaimLevel {
    const floor = this.#floors.get(levelKey(level)) ?? 0;
    return { ...level, floor, attempts: this.#served.get(level.queue)?.maxAttempts ?? 1 };
  }

  /**
   * Fewer jobs than the limit mean that every level was read to its end. A claim that began before a poll
   * raises no floor: the poll has lowered all, and found what is below.
   */
  #learn(visited: readonly KnownLevel[], jobs: ClaimedJob[], toTheEnd: boolean): ClaimedJob[] {
    const taken = takenFrom(jobs);
    if (visited.every(({ polls }) => polls === this.#polls)) {
      for (const level of taken) this.#raiseFloor(level);
    }
    const nowMs = this.#clock.monotonicMs();
    if (this.#ageingMs > 0) for (const level of taken) this.#servedAt(level, nowMs);
    this.#shares.took(taken.map((level) => ({ ...level, ...this.#ownerOf(level.queue) })));
    if (toTheEnd) for (const level of visited) this.#forget(level);
    return jobs;
  }

  /** These levels have a closed limiter. A hint meanwhile may have opened it again. */
  #shut(levels: readonly KnownLevel[], opensInMs: number | null): void {
    for (const level of levels) {
      if (this.#forget(level)) this.#shutOut.set(levelKey(level), level);
    }
    const opensAtMs = this.#clock.monotonicMs() + (opensInMs ?? Infinity);
    this.#opensAtMs = Math.min(this.#opensAtMs, opensAtMs);
  }

  /** The time until a rate allows a start in the levels that were shut out. */
  get opensInMs(): number {
    return Math.max(0, this.#opensAtMs - this.#clock.monotonicMs());
  }

  /** A job that held permits was settled here, so its levels may have work for us. */
  permitsReturned({ queue, rank, limited }: ClaimedJob): void {
    if (limited) this.hint({ shard: this.shard, queue, rank });
  }

  /** Visits the levels that share a limiter with this queue again; null means all. */
  #reopen(queue: number | null): void {
    if (this.#shutOut.size === 0) return;
    const limiters = queue === null ? null : (this.#queues.get(queue)?.limiters ?? []);
    for (const [name, level] of this.#shutOut) {
      const theirs = this.#queues.get(level.queue)?.limiters ?? [];
      if (limiters && !theirs.some((limiter) => limiters.includes(limiter))) continue;
      this.#shutOut.delete(name);
      this.#add(level.queue, level.rank);
    }
    if (this.#shutOut.size === 0) this.#opensAtMs = Infinity;
  }

  get hasWork(): boolean {
    return this.#claimsLimited ? this.#hasPlainWork() : this.#known.size > 0;
  }

  /** Whether a plain level is not less urgent than all limited ones. */
  #hasPlainWork(): boolean {
    const levels = [...this.#known.values()];
    const limitedRank = Math.min(...levels.map(({ limited, rank }) => (limited ? rank : Infinity)));
    return levels.some(({ limited, rank }) => !limited && rank <= limitedRank);
  }

  #add(queue: number, rank: number): void {
    const { tenant } = this.#ownerOf(queue);
    const limited = this.#isLimited(queue);
    const name = levelKey({ queue, rank });
    const hints = (this.#hints += 1);
    const polls = this.#polls;
    const sinceMs = this.#since.get(name) ?? this.#clock.monotonicMs();
    if (this.#ageingMs > 0) this.#since.set(name, sinceMs);
    this.#known.set(name, { queue, rank, tenant, hints, polls, limited, sinceMs });
    this.#shutOut.delete(name);
  }

  /** A queue whose starts have a webhook is claimed by the statement for limiters. */
  #isLimited(queue: number): boolean {
    const known = this.#queues.get(queue);
    return (
      known !== undefined &&
      (known.limiters.length > 0 || known.subscribedStates.includes('running'))
    );
  }

  /** Whether a webhook is subscribed to successes of this queue. */
  notifiesSuccess(queue: number): boolean {
    return this.#queues.get(queue)?.subscribedStates.includes('succeeded') ?? false;
  }

  #ownerOf(queue: number): { tenant: string; weight: number } {
    const { tenant = '', weight = 1 } = this.#queues.get(queue) ?? {};
    return { tenant, weight };
  }

  #servedAt(level: { queue: number; rank: number }, nowMs: number): void {
    const name = levelKey(level);
    const known = this.#known.get(name);
    if (!known) return;
    known.sinceMs = nowMs;
    this.#since.set(name, nowMs);
  }

  /** Forgets a level unless it was announced again; returns whether it did. */
  #forget(visited: KnownLevel): boolean {
    const name = levelKey(visited);
    if (this.#known.get(name)?.hints !== visited.hints) return false;
    this.#since.delete(name);
    return this.#known.delete(name);
  }

  #raiseFloor(level: Taken): void {
    const name = levelKey(level);
    const floor = Math.max(this.#floors.get(name) ?? 0, level.seq - FLOOR_SLACK_MICROS);
    this.#floors.set(name, floor);
  }
}

function levelKey({ queue, rank }: { queue: number; rank: number }): string {
  return `${queue}:${rank}`;
}
