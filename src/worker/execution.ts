import type { DefinitionInfo } from '../core/definition.ts';
import { failureOf } from '../core/failure.ts';
import { NO_USAGE, type OwnedState, type Usage } from '../core/job.ts';
import type { Outcome } from '../core/lifecycle.ts';
import { TIMER_MS_MAX } from '../runtime/deadline.ts';
import type { ClaimedJob } from '../store/claim.ts';
import type { AbortReason } from './ipc.ts';
import type { JobMessage, Runner, RunnerExit } from './runner.ts';

/**
 * One attempt on one runner, from the command to the outcome. It always ends: asked to stop (by a
 * cancel, its timeout, or a drain), the job gets its abort signal; after the grace SIGTERM goes to
 * the process group, and soon after that SIGKILL, which nothing survives.
 */

export interface Ended {
  outcome: Outcome;
  usage: Usage;
}

export interface ExecutionEvents {
  onProgress(execution: Execution, update: { fraction: number; message: string | null }): void;
  onOutput(execution: Execution, stream: string, line: string): void;
}

const KILL_AFTER_TERM_MS = 1_000;
const OUTPUT_LINES_MAX = 10_000;

export class Execution {
  readonly shard: number;
  readonly job: ClaimedJob;
  readonly definition: DefinitionInfo;
  /** As the database last told it; `cancelling` once somebody asked for it. */
  state: OwnedState = 'running';
  readonly #cancelGraceMs: number;
  #runner: Runner | undefined;
  #asked: AbortReason | undefined;
  #lost = false;
  #lines = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    shard: number,
    job: ClaimedJob,
    definition: DefinitionInfo,
    defaultCancelGraceMs: number,
  ) {
    this.shard = shard;
    this.job = job;
    this.definition = definition;
    this.#cancelGraceMs = definition.cancelGraceMs ?? defaultCancelGraceMs;
  }

  /** True when the claim is no longer ours; then its end is nobody's business. */
  get lost(): boolean {
    return this.#lost;
  }

  async run(runner: Runner, events: ExecutionEvents): Promise<Ended> {
    this.#runner = runner;
    const { id, claim, attempts: attempt, maxAttempts, paramsJson } = this.job;
    const { key, version } = this.definition;
    const ended = new Promise<Ended>((resolve) => {
      const command = { id, claim, attempt, maxAttempts, key, version };
      runner.give(command, paramsJson, {
        onOutput: (stream, line) => this.#output(events, stream, line),
        onExit: (exit) => resolve(this.#exited(exit)),
        onMessage: (message) => {
          if (message.claim !== claim) return;
          if (message.type === 'outcome') resolve(this.#reported(message));
          else if (message.type === 'progress') events.onProgress(this, message);
          else this.#output(events, message.level, message.message);
        },
      });
    });
    if (this.#asked) this.#beginStopping(this.#asked);
    else this.#after(this.#timeoutMs, () => this.askToStop('timeout'));
    try {
      return await ended;
    } finally {
      clearTimeout(this.#timer);
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

  /** A job that floods its output slows nobody down: after so many lines nobody listens. */
  #output(events: ExecutionEvents, stream: string, line: string): void {
    this.#lines += 1;
    if (this.#lines < OUTPUT_LINES_MAX) events.onOutput(this, stream, line);
    else if (this.#lines === OUTPUT_LINES_MAX) events.onOutput(this, stream, '… (truncated)');
  }

  get #timeoutMs(): number {
    return this.job.policy?.timeoutMs ?? this.definition.timeoutMs;
  }

  #beginStopping(reason: AbortReason): void {
    this.#runner?.abort(this.job.claim, reason);
    this.#after(this.#cancelGraceMs, () => {
      this.#runner?.terminate();
      this.#after(KILL_AFTER_TERM_MS, () => this.#runner?.kill());
    });
  }

  /** One timer is enough: each step is set when the one before is over. */
  #after(delayMs: number, action: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(action, Math.min(TIMER_MS_MAX, delayMs));
  }

  #reported({ outcome, cpuMs, peakRssBytes }: Extract<JobMessage, { type: 'outcome' }>): Ended {
    const pid = this.#runner?.pid ?? null;
    return {
      outcome: this.#outcomeOf(outcome),
      usage: { pid, exitCode: null, signal: null, cpuMs, peakRssBytes },
    };
  }

  #exited({ code, signal }: RunnerExit): Ended {
    const how = signal ? `signal ${signal}` : `exit code ${code}`;
    const message = `the process of the job ended (${how}) before the job had an outcome`;
    const error = failureOf('CRASHED', message);
    return {
      outcome: this.#outcomeOf({ kind: 'failure', error, retryAfterMs: null }),
      usage: { ...NO_USAGE, pid: this.#runner?.pid ?? null, exitCode: code, signal },
    };
  }

  /** What was finished counts. Otherwise the reason it was stopped for explains its end. */
  #outcomeOf(said: Outcome): Outcome {
    if (said.kind === 'success') return said;
    if (this.#asked === 'timeout') {
      const message = `ran longer than its ${this.#timeoutMs / 1_000} s`;
      return { kind: 'failure', error: failureOf('TIMEOUT', message), retryAfterMs: null };
    }
    if (this.#asked === 'drain') {
      return { kind: 'interrupted', message: 'the worker was stopped before the job had ended' };
    }
    return said;
  }
}
