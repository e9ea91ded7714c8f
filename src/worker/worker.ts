import type { JobDefinition } from '../core/definition/define.ts';
import type { DefinitionInfo } from '../core/definition/definition.ts';
import { groupProblem } from '../core/definition/group.ts';
import { hasTerminalHooks, hookDefinition } from '../core/definition/hooks.ts';
import type { BeatTiming } from '../core/queue/lease.ts';
import { quietMs } from '../core/shards/quiet.ts';
import type { Beats } from '../liveness/beats.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Service } from '../runtime/service.ts';
import { shownProblems } from '../core/definition/not-loaded.ts';
import { providedModules } from '../runtime/code.ts';
import { sleep } from '../runtime/deadline.ts';
import { Listener } from '../store/connection/listen.ts';
import { isReleaseHint } from '../store/connection/wake.ts';
import { claimKey, Reconciler } from './reconciler.ts';
import type { Execution } from './attempt/execution.ts';
import { Heartbeat } from './heartbeat.ts';
import { InlineRunners } from './runners/inline-runner.ts';
import { Journal } from './attempt/journal.ts';
import { WorkLoop, type WorkLoopOptions } from './claim/loop.ts';
import type { ServedDefinitions, WorkQueue } from './claim/work-queue.ts';
import { LivenessHeartbeat } from './liveness-heartbeat.ts';
import type { RunnerReport, RunnerSource } from './runners/runner.ts';
import { Runners, type RunnerSettings } from './runners/runners.ts';
import { DeployedCode, type DeploymentSource } from './deployed/deployed-code.ts';
import { Watchdog } from './watchdog.ts';

export interface WorkerOptions extends Partial<RunnerSettings> {
  queue: WorkQueue;
  /** For LISTEN; null: jobs are found by polling, and cancels arrive with heartbeats. */
  databaseUrl: string | null;
  /** The listening connection of this process; a worker without one opens its own. */
  listener?: Listener | undefined;
  /** A file or folder of definitions, or a list of definitions that run inline. */
  jobs: string | readonly JobDefinition[];
  /** Where deployed code comes from; null: this worker serves no deployments. */
  deploymentSource?: DeploymentSource | null;
  /** System jobs, which run inside the worker, with slots of their own. */
  builtIn?: { definitions: readonly JobDefinition[]; slots: number };
  host: string;
  pid: number;
  version: string;
  slots: number;
  leaseMs: number;
  heartbeatMs: number;
  /** The second heartbeat, and the lease while it is steady. */
  beating?: { beats: Beats; timing: BeatTiming; leaseMs: number } | null;
  pollMs: number;
  ageingMs?: number | undefined;
  drainMs: number;
  cancelGraceMs: number;
  logMaxBytes: number;
  streamMaxBytes?: number | undefined;
  clock: Clock;
  log: Log;
  /** Which jobs get log lines (`core/views/job-log.ts`). */
  logJobs?: string | undefined;
  /** Repeats the first registration, where the queue may be unreachable for a while. */
  persist?: (register: () => Promise<void>) => Promise<void>;
  /** A drain was requested: the caller should stop the worker now. */
  onDrain?: () => void;
}

/** While nothing happens, a server has no system jobs: their loop polls this much more rarely. */
const SYSTEM_POLLS = 5;

/**
 * A worker: its runners, its lease and its claim loops. Only `inline` and `thread` jobs
 * run inside it; no other job can delay its heartbeat. System jobs have a claim loop of their own under the same lease, so
 * neither kind waits for a slot of the other.
 */
export class Worker implements Service {
  readonly name = 'worker';
  readonly #options: WorkerOptions;
  readonly #watchdog: Watchdog;
  readonly #runners: Runners;
  readonly #deployed: DeployedCode | null;
  readonly #journal: Journal;
  readonly #heartbeat: Heartbeat;
  readonly #livenessHeartbeat: LivenessHeartbeat | null;
  readonly #reconciler: Reconciler;
  readonly #served: ServedDefinitions = { list: [] };
  readonly #warned = new Set<string>();
  /** The loop of user jobs comes first. */
  #loops: WorkLoop[] = [];
  /** Its own, unless the process has one. */
  #listener: Listener | undefined;
  #stopHearing: (() => void) | undefined;
  #leaving = false;
  /** Of loaded definitions: schedules that the queue left out. */
  #leftOut: string[] = [];
  #stopping: Promise<void> | undefined;

  constructor(options: WorkerOptions) {
    const { queue, clock, log, host, pid, version, slots } = options;
    this.#options = options;
    this.#watchdog = new Watchdog(clock, log);
    const { deploymentSource: source = null } = options;
    const shared = { ...options, watchdog: this.#watchdog };
    this.#runners = new Runners({ ...shared, shares: source !== null });
    this.#deployed =
      source &&
      new DeployedCode({
        source,
        runners: (folder, { number, manifest }) => {
          const deployment = { number, manifest, provided: providedModules() };
          return new Runners({ ...shared, jobs: folder, deployment, main: this.#runners });
        },
        folderDefinitions: () => this.#runners.report.definitions,
        running: () => this.#running().map(({ definition }) => definition),
        onChange: async () => await this.#serve(),
        isNotified: options.databaseUrl !== null,
        clock,
        log,
      });
    this.#journal = new Journal(queue, clock, log, options);
    this.#livenessHeartbeat = options.beating
      ? new LivenessHeartbeat({
          ...options.beating,
          running: () => this.#runningByInstance(),
          clock,
          log,
        })
      : null;
    this.#reconciler = new Reconciler(queue, clock, log);
    this.#heartbeat = new Heartbeat({
      queue,
      clock,
      log,
      leaseMs: options.leaseMs,
      heartbeatMs: options.heartbeatMs,
      longLease: this.#livenessHeartbeat,
      identity: () => ({ host, pid, version, slots, notLoaded: this.#notLoaded() }),
      isIdle: (shard) => this.#loops.every((loop) => loop.isIdle(shard)),
      snapshot: () => new Set(this.#running().map(({ job }) => claimKey(job))),
      onAnswer: (shard, answer, sent) => {
        if (this.#loops.length === 0) return;
        if (answer.draining) this.#leave();
        this.#reconciler.reconcile(shard, answer.owned, sent, this.#loops);
      },
      onRenewed: (leaseEndMs) => this.#watchdog.renew(leaseEndMs),
      onFence: async (shard, reason) => await this.#fence(shard, reason),
    });
    queue.useLease(this.#heartbeat);
    queue.onReleases?.(() => this.#deployed?.checkSoon());
  }

  get report(): RunnerReport {
    const { problems, ...loaded } = this.#runners.report;
    return { ...loaded, problems: [...problems, ...this.#leftOut] };
  }

  async start(): Promise<void> {
    if (this.#loops.length > 0) return;
    this.#leaving = false;
    const { queue, log, databaseUrl, builtIn, clock, persist } = this.#options;
    await this.#watchdog.start();
    await this.#runners.start();
    const { definitions, problems } = this.#runners.report;
    for (const problem of problems)
      log.warn({ problem }, 'skipped a definition that cannot be loaded');
    this.#warnOfGroups(definitions);
    const own = builtIn?.definitions ?? [];
    this.#leftOut = [];
    const published = [...definitions, ...own.map(({ info }) => info)];
    await queue.publish(published, (problem) => this.#leftOut.push(problem));
    this.#served.list = withHooks(definitions);
    const runners = { source: (of: DefinitionInfo) => this.#sourceOf(of) };
    this.#loops = [this.#loopOf({ runners, definitions: this.#served })];
    if (builtIn) {
      const inline = new InlineRunners(own, clock);
      const list = own.map(({ info }) => info);
      const system = { runners: { source: () => inline }, definitions: { list } };
      const parts = { ...system, slots: builtIn.slots };
      this.#loops.push(this.#loopOf(parts, SYSTEM_POLLS));
    }
    const register = async () => await this.#heartbeat.start();
    await (persist ? persist(register) : register());
    await this.#livenessHeartbeat?.start();
    await this.#journal.start();
    for (const loop of this.#loops) await loop.start();
    if (databaseUrl !== null) await this.#hear(databaseUrl);
    await this.#deployed?.start();
  }

  #notLoaded(): string[] {
    return shownProblems(this.#runners.report.problems);
  }

  /** Once for each definition. */
  #warnOfGroups(definitions: readonly DefinitionInfo[]): void {
    for (const { key, version, group } of definitions) {
      const problem = groupProblem(group, this.#options.slots);
      const name = `${key}@${version}`;
      if (problem === null || this.#warned.has(name)) continue;
      this.#warned.add(name);
      this.#options.log.warn({ definition: name }, `${key}: ${problem}`);
    }
  }

  #sourceOf(definition: DefinitionInfo): RunnerSource {
    return this.#deployed?.source(definition) ?? this.#runners.source(definition);
  }

  /** Deployments have come or gone: tells the queue and the loop of user jobs. */
  async #serve(): Promise<void> {
    const { queue, builtIn } = this.#options;
    const all = [...this.#runners.report.definitions, ...(this.#deployed?.definitions ?? [])];
    this.#served.list = withHooks(all);
    this.#warnOfGroups(all);
    const own = builtIn?.definitions.map(({ info }) => info) ?? [];
    for (let shard = 0; shard < queue.shards; shard += 1) {
      await queue.announce(shard, this.#heartbeat.instance(shard), [...all, ...own]);
    }
    this.#loops[0]?.pollSoon();
  }

  /** `polls`: an idle shard is polled once in so many intervals, where hints arrive. */
  #loopOf(
    parts: Pick<WorkLoopOptions, 'runners' | 'definitions'> & { slots?: number },
    polls = 1,
  ): WorkLoop {
    const { queue, pollMs, databaseUrl } = this.#options;
    const longestMs = Math.max(polls * pollMs, quietMs(pollMs, queue.shards));
    return new WorkLoop({
      ...this.#options,
      // Without hints, work is found by polls only.
      quietMs: databaseUrl === null ? pollMs : longestMs,
      journal: this.#journal,
      instance: (shard) => this.#heartbeat.instance(shard),
      holds: (shard, instance) => this.#heartbeat.holds(shard, instance),
      readyToClaim: async (shard) => await this.#heartbeat.readyToClaim(shard),
      ...parts,
    });
  }

  #running(): Execution[] {
    return this.#loops.flatMap((loop) => loop.running.all());
  }

  #runningByInstance(): Map<string, string[]> {
    const running = new Map<string, string[]>();
    for (let shard = 0; shard < this.#options.queue.shards; shard += 1) {
      const instance = this.#heartbeat.instance(shard);
      if (instance !== null) running.set(instance, []);
    }
    for (const { shard, job } of this.#running()) {
      running.get(this.#heartbeat.instance(shard) ?? '')?.push(job.id);
    }
    return running;
  }

  async #hear(url: string): Promise<void> {
    const { listener, log } = this.#options;
    this.#listener = listener ? undefined : new Listener({ url, log });
    this.#stopHearing = (listener ?? this.#listener)?.add({
      onWork: (hints) => {
        for (const loop of this.#loops) loop.hint(hints);
        if (hints.some(isReleaseHint)) this.#deployed?.checkSoon();
      },
      onBeat: (worker) => {
        if (this.#heartbeat.isOurs(worker)) this.#heartbeat.beatSoon();
      },
      onConnected: () => {
        for (const loop of this.#loops) loop.pollSoon();
        this.#deployed?.checkSoon();
        this.#heartbeat.beatSoon();
      },
    });
    await this.#listener?.start();
  }

  /**
   * Three steps: stop claiming; drain (wait for running jobs, then ask them to stop and release
   * them); release (write the outcomes, give up the lease, end the processes). The heartbeat goes
   * on until the outcomes are written, so that the lease does not expire.
   */
  async stop(): Promise<void> {
    this.#stopping ??= this.#stop().finally(() => (this.#stopping = undefined));
    await this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#stopHearing?.();
    await this.#listener?.stop();
    // A load that is under way holds up neither the drain nor the outcomes.
    const loaded = this.#deployed?.stop();
    const loops = this.#loops;
    await Promise.all(loops.map(async (loop) => await loop.stop()));
    if (loops.length > 0) await this.#drain(loops);
    await Promise.all(loops.map(async ({ outbox }) => await outbox.flush()));
    await this.#journal.stop();
    await this.#livenessHeartbeat?.stop();
    await this.#heartbeat.stop();
    await loaded;
    await this.#deployed?.close();
    await this.#runners.stop();
    await this.#watchdog.stop();
    this.#loops = [];
  }

  async #drain(loops: readonly WorkLoop[]): Promise<void> {
    const { drainMs, log } = this.#options;
    const patience = new AbortController();
    const ends = loops.map(async (loop) => await loop.drained());
    const drained = Promise.all(ends).finally(() => patience.abort());
    await sleep(drainMs, patience.signal);
    const running = this.#running();
    if (running.length > 0) {
      log.info({ jobs: running.length }, 'stopping jobs that did not end in time');
      for (const execution of running) execution.askToStop('drain');
    }
    await drained;
  }

  #leave(): void {
    if (this.#leaving) return;
    this.#leaving = true;
    this.#options.log.info('draining: finishing running jobs, claiming no more');
    this.#options.onDrain?.();
  }

  /**
   * Kills the jobs of a shard before another worker may start them. Resolves when they are gone,
   * and the outcomes of those that ended before are written.
   */
  async #fence(shard: number, reason: string): Promise<void> {
    const jobs = this.#running().filter((one) => one.shard === shard).length;
    const { queue, log } = this.#options;
    const what = queue.shards === 1 ? 'all jobs' : 'all jobs of a shard';
    const about = { reason, jobs, ...(queue.shards > 1 && { shard }) };
    log.warn(about, `fenced: stopping ${what}, coming back as a new worker`);
    await Promise.all(this.#loops.map(async (loop) => await loop.fence(shard)));
  }
}

const HOOKS = new WeakMap<DefinitionInfo, DefinitionInfo>();

/** Definitions with hooks have a second queue, for these. */
function withHooks(definitions: readonly DefinitionInfo[]): DefinitionInfo[] {
  return definitions.flatMap((info) => {
    if (!hasTerminalHooks(info)) return [info];
    const hook = HOOKS.get(info) ?? hookDefinition(info);
    HOOKS.set(info, hook);
    return [info, hook];
  });
}
