import type { DefinitionInfo } from '../core/definition.ts';
import { failureOf } from '../core/failure.ts';
import { NO_USAGE, type OwnedState, type Usage } from '../core/job.ts';
import type { Outcome } from '../core/lifecycle.ts';
import type { ClaimedJob } from '../store/claim.ts';
import { type AbortReason, type FromRunner, runLine } from './ipc.ts';
import type { RunnerEvents, RunnerExit, RunnerProcess } from './runner-process.ts';

/**
 * One attempt on one runner, from the command to the outcome. It always ends: asked to stop (by a
 * cancel, its timeout, or a drain), the job gets its abort signal; after the grace SIGTERM goes to
 * the process group, and soon after that SIGKILL, which nothing survives.
 */

export interface ExecutionLimits {
  timeoutMs: number;
  cancelGraceMs: number;
}

export interface Ended {
  outcome: Outcome;
  usage: Usage;
}

const KILL_AFTER_TERM_MS = 1_000;
/** setTimeout counts in 32 bits; a longer wait would fire at once. */
const TIMER_MAX_MS = 2_147_483_647;

export class Execution {
  readonly job: ClaimedJob;
  readonly shard: number;
  readonly definition: DefinitionInfo;
  /** As the database last told it; `cancelling` once somebody asked for it. */
  state: OwnedState = 'running';
  readonly #limits: ExecutionLimits;
  #runner: RunnerProcess | undefined;
  #asked: AbortReason | undefined;
  #lost = false;
  #timers: NodeJS.Timeout[] = [];

  constructor(
    shard: number,
    job: ClaimedJob,
    definition: DefinitionInfo,
    defaultCancelGraceMs: number,
  ) {
    this.shard = shard;
    this.job = job;
    this.definition = definition;
    this.#limits = {
      timeoutMs: job.policy?.timeoutMs ?? definition.timeoutMs,
      cancelGraceMs: definition.cancelGraceMs ?? defaultCancelGraceMs,
    };
  }

  /** True when the claim is no longer ours; then its end is nobody's business. */
  get lost(): boolean {
    return this.#lost;
  }

  async run(runner: RunnerProcess, events: Omit<RunnerEvents, 'onMessage'> & ProgressEvents) {
    this.#runner = runner;
    if (this.#lost) runner.kill();
    const { id, claim, attempts, maxAttempts, paramsJson } = this.job;
    const { key, version } = this.definition;
    const reported = new Promise<OutcomeMessage>((resolve) => {
      const line = runLine({ id, claim, attempt: attempts, maxAttempts, key, version }, paramsJson);
      runner.give(line, {
        onOutput: events.onOutput,
        onMessage: (message) => {
          if (message.claim !== claim) return;
          if (message.type === 'outcome') resolve(message);
          else if (message.type === 'progress') events.onProgress(message);
          else if (message.type === 'log') events.onOutput('stdout', message.message);
        },
      });
    });
    this.#after(this.#limits.timeoutMs, () => this.askToStop('timeout'));
    if (this.#asked) this.#beginStopping(this.#asked);
    try {
      return this.#ended(await Promise.race([reported, runner.exited]));
    } finally {
      for (const timer of this.#timers) clearTimeout(timer);
    }
  }

  /** The first reason counts; a drain that follows a cancel changes nothing. */
  askToStop(reason: AbortReason): void {
    if (this.#asked) return;
    this.#asked = reason;
    if (this.#runner) this.#beginStopping(reason);
  }

  /** The claim is lost: whatever the process still does must end before somebody else starts. */
  fence(): void {
    this.#lost = true;
    this.#runner?.kill();
  }

  #beginStopping(reason: AbortReason): void {
    const runner = this.#runner;
    if (!runner) return;
    runner.abort(this.job.claim, reason);
    this.#after(this.#limits.cancelGraceMs, () => {
      runner.terminate();
      this.#after(KILL_AFTER_TERM_MS, () => runner.kill());
    });
  }

  #after(delayMs: number, action: () => void): void {
    this.#timers.push(setTimeout(action, Math.min(TIMER_MAX_MS, delayMs)));
  }

  #ended(end: OutcomeMessage | RunnerExit): Ended {
    const pid = this.#runner?.pid ?? null;
    if (!('outcome' in end)) {
      const usage = { ...NO_USAGE, pid, exitCode: end.code, signal: end.signal };
      return { outcome: this.#outcomeOf(crash(end)), usage };
    }
    const { cpuMs, peakRssBytes } = end;
    return {
      outcome: this.#outcomeOf(end.outcome),
      usage: { ...NO_USAGE, pid, cpuMs, peakRssBytes },
    };
  }

  /** What was finished counts. Otherwise the reason it was stopped for explains its end. */
  #outcomeOf(said: Outcome): Outcome {
    if (said.kind === 'success') return said;
    if (this.#asked === 'timeout') {
      const message = `ran longer than its ${this.#limits.timeoutMs / 1_000} s`;
      return { kind: 'failure', error: failureOf('TIMEOUT', message), retryAfterMs: null };
    }
    if (this.#asked === 'drain') {
      return { kind: 'interrupted', message: 'the worker was stopped before the job had ended' };
    }
    return said;
  }
}

type OutcomeMessage = Extract<FromRunner, { type: 'outcome' }>;

export interface ProgressEvents {
  onProgress(progress: { fraction: number; message: string | null }): void;
}

function crash({ code, signal }: RunnerExit): Outcome {
  const how = signal ? `signal ${signal}` : `exit code ${code}`;
  const message = `the process of the job ended (${how}) before the job had an outcome`;
  return { kind: 'failure', error: failureOf('CRASHED', message), retryAfterMs: null };
}
