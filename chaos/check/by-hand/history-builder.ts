import type { JobState } from '../../../src/core/job/job.ts';
import type {
  Effect,
  FaultEvent,
  History,
  Micros,
  RowEvent,
  VersionEvent,
} from '../../history/history.ts';
import { JobBuilder, type JobOptions, pidOf } from './job-builder.ts';

/**
 * Histories made by hand, for testing the checker: sound ones by default, in which a test then
 * breaks one thing. Each step takes a millisecond of a clock that only moves here.
 */
export class HistoryBuilder {
  now: Micros = 1_000_000;
  readonly history: History = emptyHistory();
  readonly #jobs: JobBuilder[] = [];
  #seq = 0;
  #op = 0;
  #faults = 0;

  constructor() {
    for (const slot of ['api-1', 'worker-1', 'worker-2']) this.process(slot, pidOf(slot));
  }

  /** The next moment, after so many milliseconds. */
  tick(ms = 1): Micros {
    this.now += ms * 1_000;
    return this.now;
  }

  nextSeq(): number {
    return (this.#seq += 1);
  }

  nextOp(): number {
    return (this.#op += 1);
  }

  process(slot: string, pid: number): void {
    for (const phase of ['spawn', 'up'] as const) {
      this.history.processes.push({ at: this.tick(), slot, pid, phase });
    }
  }

  exit(slot: string, pid = pidOf(slot), signal: string | null = 'SIGKILL'): void {
    const end = { phase: 'exit', code: signal ? null : 1, signal } as const;
    this.history.processes.push({ at: this.tick(), slot, pid, ...end });
  }

  /** A worker instance with a lease of 3 s, if not longer; the same call renews it. */
  beat(worker: string, slot = 'worker-1', leaseMs = 3_000): string {
    const at = this.tick();
    const lease = { until: at + leaseMs * 1_000, deadAt: null };
    this.history.leases.push({ seq: this.nextSeq(), at, worker, pid: pidOf(slot), ...lease });
    return worker;
  }

  /** Waits until the lease is over, and declares it dead. */
  bury(worker: string, afterMs = 3_100): void {
    const last = this.history.leases.findLast((lease) => lease.worker === worker);
    if (!last) throw new Error(`${worker} was never registered`);
    const at = this.tick(afterMs);
    this.history.leases.push({ ...last, seq: this.nextSeq(), at, deadAt: at });
  }

  fault(kind: string, targets: string[], more: Partial<FaultEvent> = {}): number {
    const id = (this.#faults += 1);
    this.history.faults.push({ id, at: this.tick(), phase: 'inject', kind, targets, ...more });
    return id;
  }

  heal(id: number): void {
    const injected = this.history.faults.find((fault) => fault.id === id);
    if (injected) this.history.faults.push({ ...injected, at: this.tick(), phase: 'heal' });
  }

  phase(name: string): void {
    this.history.phases.push({ at: this.tick(), name });
  }

  /** A schedule that was due every second for a while, and fired each time but for `missing`. */
  schedule(seconds: number, missing: readonly number[] = []): JobBuilder[] {
    const id = 'schedule-1';
    const everyMs = 1_000;
    const fromMs = 500;
    this.history.schedules.push({ id, everyMs, fromMs, untilMs: seconds * everyMs + 1 });
    return Array.from({ length: seconds }, (_, index) => (index + 1) * everyMs)
      .filter((slotMs) => !missing.includes(slotMs))
      .map((slotMs) => {
        const job = this.job({ slotMs }).claim().start().succeed();
        const fired = { throughMs: null, status: 'fired', reason: null, job: job.id } as const;
        this.history.slots.push({ schedule: id, slotMs, ...fired });
        return job;
      });
  }

  /** A deployment that was acknowledged. `pin`: and that ran a job. */
  deploy(number: number, { released = true, pin = false } = {}): void {
    const build = `build-${number}`;
    const from = this.tick();
    if (released) this.#released(number);
    this.history.deployments.push({ number, build, retired: false });
    const call = { what: 'deploy', result: 'ok', build, number, released } as const;
    this.history.deploys.push({ ...call, from, until: this.tick() });
    if (pin) this.job({ version: number, pinned: number }).claim().start().succeed();
  }

  /** An acknowledged rollback or promotion. */
  release(number: number): void {
    const from = this.tick();
    this.#released(number);
    const call = { what: 'rollback', result: 'ok', build: null, number, released: true } as const;
    this.history.deploys.push({ ...call, from, until: this.tick() });
  }

  #released(current: number): void {
    this.history.releases.push({ seq: this.nextSeq(), at: this.tick(), current });
  }

  version(event: Pick<VersionEvent, 'job' | 'claim' | 'version'>): void {
    this.history.versions.push({
      ...event,
      seq: this.nextSeq(),
      at: this.now,
      begun: this.now,
    });
  }

  job(options: JobOptions = {}): JobBuilder {
    const made = new JobBuilder(this, this.#jobs.length + 1, options);
    this.#jobs.push(made);
    return made;
  }

  row(row: Omit<RowEvent, 'seq' | 'at' | 'begun'>): void {
    this.history.rows.push({ ...row, seq: this.nextSeq(), at: this.now, begun: this.now });
  }

  effect(effect: Omit<Effect, 'at' | 'isolation'>): void {
    this.history.effects.push({ ...effect, at: this.tick(), isolation: 'process' });
  }

  /** A request that was answered. */
  call(
    call: Extract<History['client'][number], { phase: 'invoke' }>['call'],
    answer: { ok: JobState; id: string } | { fail: number } | 'unknown',
  ): void {
    const op = this.nextOp();
    const { client } = this.history;
    client.push({ op, at: this.tick(), phase: 'invoke', api: 'api-1', call });
    const at = this.tick();
    if (answer === 'unknown') client.push({ op, at, phase: 'unknown', why: 'cut off' });
    else if ('fail' in answer)
      client.push({ op, at, phase: 'fail', status: answer.fail, code: '' });
    else client.push({ op, at, phase: 'ok', jobs: [{ id: answer.id, status: answer.ok }] });
  }

  /** The end of the run: everything drains, and the tables are read. */
  build(): History {
    this.phase('drain');
    this.phase('drained');
    this.phase('stop');
    for (const job of this.#jobs) this.history.final.push(...job.final());
    return this.history;
  }
}

function emptyHistory(): History {
  return {
    run: {
      seed: 1,
      profile: 'test',
      commit: '',
      versions: {},
      leaseMs: 3_000,
      heartbeatMs: 1_000,
      pollMs: 500,
      drainMs: 1_000,
      hearsayMs: 0,
      slotsPerWorker: 5,
      drainBoundMs: 10_000,
      sometimes: [],
      skipped: {},
    },
    client: [],
    rows: [],
    attempts: [],
    progress: [],
    leases: [],
    effects: [],
    faults: [],
    processes: [],
    notices: [],
    phases: [],
    final: [],
    schedules: [],
    slots: [],
    deploys: [],
    versions: [],
    releases: [],
    deployments: [],
    members: [],
    limiters: [],
    leftovers: { processes: [], connections: 0 },
  };
}
