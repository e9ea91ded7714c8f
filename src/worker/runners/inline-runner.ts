import type { JobDefinition } from '../../core/definition/define.ts';
import type { Outcome } from '../../core/job/lifecycle.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type GroupPort, GroupRun } from '../runner/group/group-run.ts';
import type { AbortReason, FromRunner, RunCommand, SaveAnswer } from '../ipc.ts';
import { JobRun, type RunPort } from '../runner/job-run.ts';
import { byName, type Definitions } from '../runner/run.ts';
import {
  type GroupJob,
  PLAIN_EXIT,
  type Runner,
  type RunnerEvents,
  type RunnerSource,
} from './runner.ts';

const PID = process.pid;
const UNMEASURED = { cpuMs: null, peakRssBytes: null, spent: false };

/**
 * Runs one job inside the worker, for definitions with `isolation: 'inline'`: trusted, tiny and
 * quick ones. It costs microseconds instead of a round trip, but it cannot be killed, has no memory
 * limit, and a busy job delays the worker's heartbeat.
 */
export class InlineRunner implements Runner, RunPort, GroupPort {
  readonly pid = PID;
  readonly alive = true;
  readonly nowMs: () => number;
  readonly publicUrl: string | null;
  readonly sharesProcess = true;
  readonly #definitions: Definitions;
  #events: RunnerEvents | undefined;
  #run: JobRun | undefined;
  #group: GroupRun | undefined;
  #groupEvents: Map<number, RunnerEvents> | undefined;

  constructor(definitions: Definitions, nowMs: () => number, publicUrl: string | null) {
    this.#definitions = definitions;
    this.nowMs = nowMs;
    this.publicUrl = publicUrl;
  }

  give(command: Omit<RunCommand, 'params'>, paramsJson: string, events: RunnerEvents): void {
    this.#events = events;
    this.#run = new JobRun({ ...command, params: JSON.parse(paramsJson) as unknown }, this);
    this.#run.start(this.#definitions);
  }

  giveGroup(jobs: readonly GroupJob[]): void {
    const commands = jobs.map(({ command, paramsJson }) => {
      return { ...command, params: JSON.parse(paramsJson) as unknown };
    });
    this.#groupEvents = new Map(jobs.map(({ command, events }) => [command.claim, events]));
    this.#group = new GroupRun(commands, this);
    this.#group.start(this.#definitions);
  }

  onItem({ claim }: RunCommand, outcome: Outcome): void {
    const events = this.#groupEvents?.get(claim);
    this.#groupEvents?.delete(claim);
    events?.onMessage({ type: 'outcome', claim, outcome, ...UNMEASURED });
  }

  send(message: FromRunner): void {
    if (message.type === 'ready' || message.type === 'idle') return;
    const events = this.#groupEvents ? this.#groupEvents.get(message.claim) : this.#events;
    events?.onMessage(message);
  }

  /** Inside the worker, usage cannot be assigned to a job. */
  onOutcome({ job: { claim } }: JobRun, outcome: Outcome): void {
    this.#events?.onMessage({ type: 'outcome', claim, outcome, ...UNMEASURED });
  }

  forget(): void {
    this.#events = undefined;
    this.#groupEvents = undefined;
  }

  abort(claim: number, reason: AbortReason): void {
    this.#group?.abort(claim, reason);
    if (this.#run?.job.claim === claim) this.#run.abort(reason);
  }

  saved(claim: number, seq: number, answer: SaveAnswer): void {
    this.#group?.answered(claim, seq, answer);
    if (this.#run?.job.claim === claim) this.#run.answered(seq, answer);
  }

  /** Only the job itself can end; it is abandoned, and its messages no longer count. */
  terminate(): void {
    this.kill();
  }

  kill(): void {
    const all = [this.#events, ...(this.#groupEvents?.values() ?? [])];
    this.forget();
    for (const events of all) events?.onExit(PLAIN_EXIT);
  }
}

/** A runner costs nothing here, so every job gets its own. */
export class InlineRunners implements RunnerSource {
  readonly #definitions: Definitions;
  readonly #nowMs: () => number;
  readonly #publicUrl: string | null;

  constructor(
    definitions: readonly JobDefinition[],
    clock: Clock,
    publicUrl: string | null = null,
  ) {
    this.#publicUrl = publicUrl;
    this.#definitions = byName(definitions);
    this.#nowMs = () => clock.now().getTime();
  }

  acquire(): Runner {
    return new InlineRunner(this.#definitions, this.#nowMs, this.#publicUrl);
  }

  release(runner: Runner): void {
    runner.forget();
  }
}
