import type { Outcome } from '../../core/job/lifecycle.ts';
import type { FromRunner, Measured, RunCommand, ToRunner } from '../ipc.ts';
import { type GroupPort, GroupRun } from './group/group-run.ts';
import { JobRun, type RunPort } from './job-run.ts';
import type { Definitions } from './run.ts';

export interface SessionOptions {
  definitions: Definitions;
  send(message: FromRunner): void;
  nowMs(): number;
  /** The address of the server for links. */
  publicUrl?: string | undefined;
  /** A job arrives while another one still runs. */
  onDouble?(): void;
  /** Sets the secrets of a job in the environment. Later jobs of this runner have the same. */
  setSecrets(secrets: Readonly<Record<string, string>>): void;
  /** Starts to measure an attempt; the returned function reports its usage so far. */
  measure(): () => Measured;
}

/** A group, and the usage that its outcomes have reported. */
interface CurrentGroup {
  run: GroupRun;
  measured: () => Measured;
  seen?: Measured;
  cpuMs: number;
  open: number;
}

/**
 * The runner's side of a process or thread: takes commands from the worker, one job at a time, and
 * answers each with one outcome.
 */
export class RunnerSession implements RunPort, GroupPort {
  readonly nowMs: () => number;
  readonly publicUrl: string | null;
  readonly sharesProcess = false;
  readonly #options: SessionOptions;
  #group: CurrentGroup | undefined;
  /** The jobs of the next group, until all have arrived. */
  #gathered: { size: number; jobs: RunCommand[] } | undefined;
  #current: { run: JobRun; measured: () => Measured } | undefined;
  /** An error escaped, so the next outcome is the last. */
  #spent = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.nowMs = options.nowMs;
    this.publicUrl = options.publicUrl ?? null;
  }

  receive(message: ToRunner): void {
    if (message.type === 'run') {
      return this.#gathered ? this.#gather(message.job, this.#gathered) : this.#begin(message.job);
    }
    if (message.type === 'group') {
      this.#gathered = { size: message.size, jobs: [] };
      return;
    }
    if (message.type === 'ask-idle') {
      return this.send({ type: 'idle', busy: this.#isBusy });
    }
    if (message.type === 'load') return;
    if (this.#group) return this.#tellGroup(this.#group.run, message);
    const run = this.#current?.run;
    if (run?.job.claim !== message.claim) return;
    if (message.type === 'abort') run.abort(message.reason);
    else run.answered(message.seq, message);
  }

  /**
   * An error that escaped the promise of its job: the running one, unless it is known to be
   * another. An error of an ended job is ignored: the next one must not fail for it. But the runner
   * is then not used again.
   */
  fail(error: unknown, owner?: RunCommand): void {
    this.#spent = true;
    const group = this.#group?.run;
    if (group && (!owner || group.has(owner))) return group.fail(error);
    const run = this.#current?.run;
    if (run && (!owner || owner === run.job)) run.fail(error);
  }

  send(message: FromRunner): void {
    this.#options.send(message);
  }

  onOutcome(run: JobRun, outcome: Outcome): void {
    const current = this.#current;
    if (current?.run !== run) return;
    this.#current = undefined;
    const measured = current.measured();
    const spent = measured.spent || this.#spent;
    this.send({ type: 'outcome', claim: run.job.claim, outcome, ...measured, spent });
  }

  /** One outcome each. The measured usage is that of the call, so each item has an equal share. */
  onItem({ claim }: RunCommand, outcome: Outcome, isLast: boolean): void {
    const group = this.#group;
    if (!group) return;
    // Most outcomes come at once, so the usage is read for the first and for the last one.
    group.seen = isLast || !group.seen ? group.measured() : group.seen;
    const { cpuMs, peakRssBytes, spent } = group.seen;
    const share =
      cpuMs === null ? null : Math.max(0, Math.round((cpuMs - group.cpuMs) / group.open));
    group.cpuMs += share ?? 0;
    group.open -= 1;
    if (isLast) this.#group = undefined;
    const measured = { cpuMs: share, peakRssBytes };
    // The runner is ended after the last outcome.
    this.send({
      type: 'outcome',
      claim,
      outcome,
      ...measured,
      spent: isLast && (spent || this.#spent),
    });
  }

  get #isBusy(): boolean {
    return this.#current !== undefined || this.#group !== undefined;
  }

  #tellGroup(run: GroupRun, message: Extract<ToRunner, { type: 'abort' | 'saved' }>): void {
    if (message.type === 'abort') run.abort(message.claim, message.reason);
    else run.answered(message.claim, message.seq, message);
  }

  #gather(job: RunCommand, gathered: { size: number; jobs: RunCommand[] }): void {
    const { jobs, size } = gathered;
    jobs.push(job);
    if (jobs.length < size) return;
    this.#gathered = undefined;
    const { definitions, measure, setSecrets } = this.#options;
    this.#leave();
    if (job.secrets) setSecrets(job.secrets);
    const run = new GroupRun(jobs, this);
    this.#group = { run, measured: measure(), cpuMs: 0, open: size };
    run.start(definitions);
  }

  /**
   * A job arrives while another one runs: the worker received an outcome that did not come from
   * here. Code of the job forged it and still runs.
   */
  #leave(): void {
    if (this.#isBusy) this.#options.onDouble?.();
    this.#current?.run.abandon();
    this.#group?.run.abandon();
    this.#current = undefined;
    this.#group = undefined;
  }

  #begin(job: RunCommand): void {
    const { definitions, measure, setSecrets } = this.#options;
    this.#leave();
    if (job.secrets) setSecrets(job.secrets);
    const run = new JobRun(job, this);
    this.#current = { run, measured: measure() };
    run.start(definitions);
  }
}
