import type { DefinitionInfo } from '../../core/definition/definition.ts';
import { type Line, orderLines } from '../../core/queue/claim-order.ts';
import { Turns } from '../../core/queue/fair-share.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ClaimedJob, ClaimLine } from '../../store/claim/claim.ts';
import type { ServedLane } from '../../store/enqueue/queues.ts';
import type { Settlement } from '../../store/claim/settle.ts';
import { LANES_CHANGED, type LineHint } from '../../store/connection/wake.ts';
import { Execution } from '../attempt/execution.ts';
import { LookPace } from './poll-interval.ts';
import type { QueuePort } from './port.ts';

/**
 * What a worker remembers of one shard: which lines have work, and how far each has been read. Hints
 * add lines between looks; a look at the index once a second is the net (`look-pace.ts`).
 *
 * The floor of a line is the highest place taken from it, less 50 ms for commits that overtook each
 * other. A job that committed later still is found by the next look, which lowers all floors.
 *
 * Lines whose lane has gates are claimed by another statement, which tells when a gate is shut; so are
 * those whose starts somebody listens to. A line before a shut gate is *shut out*: not asked again until
 * a token comes back, as far as one hears of it, or the rate has a start left, or the next look.
 */

const FLOOR_SLACK_MICROS = 50_000;

interface KnownLine extends Line {
  /** Counts up with every hint, so that a claim does not forget work that was announced meanwhile. */
  hints: number;
  gated: boolean;
}

export class Lines {
  readonly shard: number;
  readonly #queue: QueuePort;
  readonly #clock: Clock;
  readonly #definitions: readonly DefinitionInfo[];
  readonly #pace: LookPace;
  #lanes = new Map<number, ServedLane>();
  #served = new Map<number, DefinitionInfo>();
  readonly #known = new Map<string, KnownLine>();
  readonly #shutOut = new Map<string, KnownLine>();
  #opensAtMs = Infinity;
  readonly #floors = new Map<string, number>();
  #lookAgain = false;
  /** Lanes that were announced and are not known yet; and those that turned out not to be ours. */
  readonly #asked = new Set<number>();
  readonly #foreign = new Set<number>();
  #looking: LineHint[] | undefined;
  readonly #turns = new Turns();
  readonly #ageingMs: number;
  /** Since when each line has had work and got nothing; only where jobs age. */
  readonly #since = new Map<string, number>();

  constructor(
    shard: number,
    queue: QueuePort,
    definitions: readonly DefinitionInfo[],
    clock: Clock,
    pollMs: number,
    ageingMs = 0,
  ) {
    this.shard = shard;
    this.#queue = queue;
    this.#definitions = definitions;
    this.#clock = clock;
    this.#pace = new LookPace(pollMs);
    this.#ageingMs = ageingMs;
  }

  /** One attempt of a job that was claimed here. */
  executionOf(job: ClaimedJob, cancelGraceMs: number): Execution {
    const definition = this.#served.get(job.lane);
    if (!definition) throw new Error(`claimed ${job.id} from a lane that is not served`);
    const { tenant } = this.#ownerOf(job.lane);
    return new Execution(this.shard, job, definition, cancelGraceMs, tenant);
  }

  /** A lane we do not know may be new and ours: one look will tell. */
  hint(hint: LineHint): void {
    this.#looking?.push(hint);
    if (hint.lane === LANES_CHANGED) return this.lookSoon();
    this.#reopen(hint.lane);
    if (this.#lanes.has(hint.lane)) this.#add(hint.lane, hint.rank);
    else if (!this.#foreign.has(hint.lane)) this.#asked.add(hint.lane);
  }

  lookSoon(): void {
    this.#lookAgain = true;
  }

  async lookIfDue(): Promise<void> {
    const startMs = this.#clock.monotonicMs();
    if (startMs >= this.#opensAtMs) this.#reopen(null);
    if (!this.#pace.isDue(startMs) && !this.#lookAgain && this.#asked.size === 0) return;
    const asked = [...this.#asked];
    this.#asked.clear();
    this.#lookAgain = false;
    // What is announced while we look may have been committed too late to be seen.
    this.#looking = [];
    const lanes = await this.#queue.lanes(this.shard, this.#definitions);
    this.#lanes = new Map(lanes.map((lane) => [lane.lane, lane]));
    this.#served = new Map(
      lanes.flatMap(({ lane, key, version }) => {
        const found = this.#definitions.find((one) => one.key === key && one.version === version);
        return found ? [[lane, found]] : [];
      }),
    );
    for (const lane of asked) if (!this.#lanes.has(lane)) this.#foreign.add(lane);
    const found = await this.#queue.findLines(this.shard, [...this.#lanes.keys()]);
    this.#floors.clear();
    this.#known.clear();
    this.#shutOut.clear();
    this.#opensAtMs = Infinity;
    for (const { lane, rank } of found) this.#add(lane, rank);
    const announced = this.#looking;
    this.#looking = undefined;
    for (const hint of announced) this.hint(hint);
    for (const name of this.#since.keys()) if (!this.#known.has(name)) this.#since.delete(name);
    this.#pace.looked(startMs, this.#clock.monotonicMs());
  }

  /** Claims at most `limit` jobs, best lines first. */
  async claim(limit: number, instance: string): Promise<ClaimedJob[]> {
    const visited = this.#inOrder();
    if (!visited.some((line) => line.gated)) {
      const jobs = await this.#queue.claim(this.shard, limit, instance, visited);
      return this.#learn(visited, jobs, jobs.length < limit);
    }
    const { jobs, shutLanes, opensInMs, more } = await this.#queue.claimGated(
      this.shard,
      limit,
      instance,
      visited,
    );
    this.#shut(
      visited.filter(({ lane }) => shutLanes.includes(lane)),
      opensInMs,
    );
    return this.#learn(visited, jobs, !more);
  }

  /** The same, and writes plain successes in the same statement. */
  async turn(
    limit: number,
    instance: string,
    settlements: readonly Settlement[],
  ): Promise<{ settled: Set<string> | null; jobs: ClaimedJob[] }> {
    const visited = this.#inOrder();
    const turn = { settlements, limit, instance, lines: visited };
    const { settled, jobs } = await this.#queue.turn(this.shard, turn);
    return { settled, jobs: this.#learn(visited, jobs, jobs.length < limit) };
  }

  #inOrder(): (KnownLine & ClaimLine)[] {
    const nowMs = this.#clock.monotonicMs();
    const agedMs = this.#ageingMs === 0 ? -Infinity : nowMs - this.#ageingMs;
    const ordered = orderLines([...this.#known.values()], this.#turns, agedMs);
    return ordered.map((line) => {
      // It goes first now, and that was its turn, whatever it finds.
      if (line.sinceMs <= agedMs) this.#servedAt(line, nowMs);
      return { ...line, floor: this.#floors.get(nameOf(line)) ?? 0 };
    });
  }

  /** Fewer than asked for means that every line was read to its end. */
  #learn(visited: readonly KnownLine[], jobs: ClaimedJob[], toTheEnd: boolean): ClaimedJob[] {
    for (const job of jobs) this.#raiseFloor(job);
    const nowMs = this.#clock.monotonicMs();
    if (this.#ageingMs > 0) for (const job of jobs) this.#servedAt(job, nowMs);
    this.#turns.took(jobs.map(({ lane }) => ({ lane, ...this.#ownerOf(lane) })));
    if (toTheEnd) for (const line of visited) this.#forget(line);
    return jobs;
  }

  /** These found a gate shut. What was announced meanwhile may have opened it again. */
  #shut(lines: readonly KnownLine[], opensInMs: number | null): void {
    for (const line of lines) {
      if (this.#forget(line)) this.#shutOut.set(nameOf(line), line);
    }
    const opensAtMs = this.#clock.monotonicMs() + (opensInMs ?? Infinity);
    this.#opensAtMs = Math.min(this.#opensAtMs, opensAtMs);
  }

  /** Whether a claim must pass gates. */
  get gated(): boolean {
    for (const { gated } of this.#known.values()) if (gated) return true;
    return false;
  }

  /** How long until a rate lets lines go on that were shut out. */
  get opensInMs(): number {
    return Math.max(0, this.#opensAtMs - this.#clock.monotonicMs());
  }

  /** A job that held tokens was settled here: somebody may go on with them, why not we. */
  tokensBack({ lane, rank, gated }: ClaimedJob): void {
    if (gated) this.hint({ shard: this.shard, lane, rank });
  }

  /** Asks again what shares a gate with this lane; null means everything. */
  #reopen(lane: number | null): void {
    if (this.#shutOut.size === 0) return;
    const gates = lane === null ? null : (this.#lanes.get(lane)?.gates ?? []);
    for (const [name, line] of this.#shutOut) {
      const theirs = this.#lanes.get(line.lane)?.gates ?? [];
      if (gates && !theirs.some((gate) => gates.includes(gate))) continue;
      this.#shutOut.delete(name);
      this.#add(line.lane, line.rank);
    }
    if (this.#shutOut.size === 0) this.#opensAtMs = Infinity;
  }

  /** Whether this lane is served and, as far as we heard, nothing as good as this rank waits. */
  isIdle(lane: number, rank: number): boolean {
    if (!this.#served.has(lane) || this.#isGated(lane)) return false;
    for (const line of this.#known.values()) if (line.rank <= rank) return false;
    return true;
  }

  get hasWork(): boolean {
    return this.#known.size > 0;
  }

  #add(lane: number, rank: number): void {
    const { tenant } = this.#ownerOf(lane);
    const gated = this.#isGated(lane);
    const name = nameOf({ lane, rank });
    const hints = (this.#known.get(name)?.hints ?? 0) + 1;
    const sinceMs = this.#since.get(name) ?? this.#clock.monotonicMs();
    if (this.#ageingMs > 0) this.#since.set(name, sinceMs);
    this.#known.set(name, { lane, rank, tenant, hints, gated, sinceMs });
    this.#shutOut.delete(name);
  }

  /** A lane whose starts are told is claimed by the same statement as one with gates. */
  #isGated(lane: number): boolean {
    const known = this.#lanes.get(lane);
    return known !== undefined && (known.gates.length > 0 || known.told.includes('running'));
  }

  /** Whether somebody listens for the successes of this lane. */
  tellsSuccess(lane: number): boolean {
    return this.#lanes.get(lane)?.told.includes('succeeded') ?? false;
  }

  #ownerOf(lane: number): { tenant: string; weight: number } {
    const { tenant = '', weight = 1 } = this.#lanes.get(lane) ?? {};
    return { tenant, weight };
  }

  #servedAt(line: { lane: number; rank: number }, nowMs: number): void {
    const name = nameOf(line);
    const known = this.#known.get(name);
    if (!known) return;
    known.sinceMs = nowMs;
    this.#since.set(name, nowMs);
  }

  /** Unless it was announced again; says whether it was forgotten. */
  #forget(visited: KnownLine): boolean {
    const name = nameOf(visited);
    if (this.#known.get(name)?.hints !== visited.hints) return false;
    this.#since.delete(name);
    return this.#known.delete(name);
  }

  #raiseFloor(job: ClaimedJob): void {
    const name = nameOf(job);
    const floor = Math.max(this.#floors.get(name) ?? 0, job.seq - FLOOR_SLACK_MICROS);
    this.#floors.set(name, floor);
  }
}

function nameOf({ lane, rank }: { lane: number; rank: number }): string {
  return `${lane}:${rank}`;
}
