import type { Outcome } from '../../../core/job/lifecycle.ts';
import type { AbortReason, FromRunner, RunCommand, SaveAnswer } from '../../ipc.ts';
import { JobRun, type RunPort } from '../job-run.ts';
import type { Definitions } from '../run.ts';
import { runGroup } from './run-group.ts';

/** Where the reports and the outcomes of a group go. */
export interface GroupPort {
  readonly nowMs: () => number;
  readonly publicUrl: string | null;
  readonly sharesProcess: boolean;
  send(message: FromRunner): void;
  /** Once for each job. */
  onItem(job: RunCommand, outcome: Outcome, isLast: boolean): void;
}

/** The jobs of a group in their runner. */
export class GroupRun implements RunPort {
  readonly nowMs: () => number;
  readonly publicUrl: string | null;
  readonly sharesProcess: boolean;
  readonly #port: GroupPort;
  readonly #runs: JobRun[];
  #open: number;

  constructor(jobs: readonly RunCommand[], port: GroupPort) {
    this.#port = port;
    this.nowMs = port.nowMs;
    this.publicUrl = port.publicUrl;
    this.sharesProcess = port.sharesProcess;
    this.#open = jobs.length;
    this.#runs = jobs.map((job) => new JobRun(job, this));
  }

  start(definitions: Definitions): void {
    void runGroup(definitions, this.#runs, this.nowMs);
  }

  has(job: RunCommand): boolean {
    return this.#runs.some((run) => run.job === job);
  }

  send(message: FromRunner): void {
    this.#port.send(message);
  }

  onOutcome({ job }: JobRun, outcome: Outcome): void {
    this.#open -= 1;
    this.#port.onItem(job, outcome, this.#open === 0);
  }

  abort(claim: number, reason: AbortReason): void {
    this.#find(claim)?.abort(reason);
  }

  answered(claim: number, seq: number, answer: SaveAnswer): void {
    this.#find(claim)?.answered(seq, answer);
  }

  fail(error: unknown): void {
    for (const run of this.#runs) run.fail(error);
  }

  abandon(): void {
    for (const run of this.#runs) run.abandon();
  }

  #find(claim: number): JobRun | undefined {
    return this.#runs.find(({ job }) => job.claim === claim);
  }
}
