import type { DefinitionInfo } from '../../core/definition/definition.ts';
import { failureOf } from '../../core/failure/failure.ts';
import { NO_USAGE, type OwnedState, type Usage } from '../../core/job/job.ts';
import type { Outcome } from '../../core/job/lifecycle.ts';
import { type CannotOpen, namesSealed, SEALED } from '../../core/access/sealed.ts';
import { TIMER_MS_MAX } from '../../runtime/deadline.ts';
import type { ClaimedJob } from '../../store/claim/claim.ts';
import type { NewLine } from './attempt-journal.ts';
import type { AbortReason, Saved } from '../ipc.ts';
import { Mask } from './mask.ts';
import type { JobMessage, Runner, RunnerExit } from '../runners/runner.ts';

/**
 * One attempt on one runner, from the command to the outcome. It always ends: on a cancel, a
 * timeout or a drain the job gets its abort signal; after the grace period SIGTERM goes to the
 * process group, and soon after SIGKILL.
 */

export interface Ended {
  outcome: Outcome;
  usage: Usage;
}

/** The decrypted input of an attempt. */
export interface Belongings {
  paramsJson: string;
  saved: Saved | undefined;
}

/** Receives what the job reports while it runs; see `journal.ts`. */
export interface ExecutionEvents {
  onProgress(execution: Execution, update: { fraction: number; message: string | null }): void;
  onLine(execution: Execution, line: NewLine): void;
  onEvent(execution: Execution, type: 'custom' | 'hook', payloadJson: string): void;
}

/** Stores a step or a checkpoint, and returns the problem if it could not. */
export type SaveStep = (
  execution: Execution,
  step: string | null,
  valueJson: string,
) => Promise<string | null>;

const KILL_AFTER_TERM_MS = 1_000;
/** A well-behaved job awaits each answer; this many at once are a flood. */
const SAVES_MAX = 100;
const RESERVED = `the key ${SEALED} is not allowed: it marks encrypted values`;

export class Execution {
  readonly shard: number;
  readonly job: ClaimedJob;
  readonly definition: DefinitionInfo;
  readonly tenant: string;
  /** The last known state in the database; `cancelling` after a cancel request. */
  state: OwnedState = 'running';
  /** The trace context of its code. */
  traceparent: string | null;
  /** When its code started, and how long it ran; null when it never started. */
  startedMs: number | null = null;
  durationMs: number | null = null;
  readonly #cancelGraceMs: number;
  #runner: Runner | undefined;
  #asked: AbortReason | undefined;
  #lost = false;
  #ended = false;
  #saves = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    shard: number,
    job: ClaimedJob,
    definition: DefinitionInfo,
    defaultCancelGraceMs: number,
    tenant: string,
  ) {
    this.shard = shard;
    this.job = job;
    this.definition = definition;
    this.tenant = tenant;
    this.traceparent = job.traceparent;
    this.#cancelGraceMs = definition.cancelGraceMs ?? defaultCancelGraceMs;
  }

  /** True when the claim is lost; then its outcome does not count. */
  get lost(): boolean {
    return this.#lost;
  }

  /** Cancelled or lost before it started: then it need not start. */
  get over(): boolean {
    return this.#lost || this.state === 'cancelling';
  }

  async run(
    runner: Runner,
    { paramsJson, saved }: Belongings,
    events: ExecutionEvents,
    saveStep: SaveStep,
  ): Promise<Ended> {
    this.#runner = runner;
    const { id, claim, attempts: attempt, maxAttempts } = this.job;
    const { key, version, redact } = this.definition;
    const mask = new Mask(redact, paramsJson);
    const ended = new Promise<Ended>((resolve) => {
      const end = ({ outcome, usage }: Ended) =>
        resolve({ outcome: asToBeKept(outcome, mask), usage });
      const traceparent = this.traceparent ?? undefined;
      const command = { id, claim, attempt, maxAttempts, key, version, saved, traceparent };
      runner.give(command, paramsJson, {
        onOutput: (stream, line) => {
          const level = stream === 'stderr' ? 'error' : 'info';
          events.onLine(this, { stream, message: mask.text(line), level });
        },
        onExit: (exit) => end(this.#exited(exit)),
        onMessage: (message) => {
          if (message.claim !== claim) return;
          if (message.type === 'outcome') end(this.#reported(message));
          else if (message.type === 'save') void this.#save(runner, saveStep, message);
          else this.#received(message, events, mask);
        },
      });
    });
    if (this.#asked) this.#beginStopping(this.#asked);
    else this.#after(this.#timeoutMs, () => this.askToStop('timeout'));
    try {
      return await ended;
    } finally {
      clearTimeout(this.#timer);
      this.#ended = true;
      // The runner soon has the next job, which a cancel or fence of this one must not reach.
      this.#runner = undefined;
    }
  }

  /** The first reason counts; a drain after a cancel changes nothing. */
  askToStop(reason: AbortReason): void {
    if (this.#asked) return;
    this.#asked = reason;
    if (this.#runner) this.#beginStopping(reason);
  }

  /**
   * The claim is lost: the process must end before another worker starts the job. An attempt that
   * has ended keeps its outcome, which is written if the claim still owns the job.
   */
  fence(): void {
    if (this.#ended) return;
    this.#lost = true;
    this.#runner?.kill();
  }

  #received(report: JobReport, events: ExecutionEvents, mask: Mask): void {
    switch (report.type) {
      case 'progress': {
        const message = report.message === null ? null : mask.text(report.message);
        return events.onProgress(this, { ...report, message });
      }
      case 'log':
        return events.onLine(this, {
          ...report,
          message: mask.text(report.message),
          stream: 'logger',
        });
      case 'event': {
        const { name, payloadJson } = report;
        const payload = `{"type":${JSON.stringify(name)},"payload":${payloadJson}}`;
        return events.onEvent(this, 'custom', mask.json(payload));
      }
      case 'hook-failed': {
        const { hook } = report;
        const error = mask.error(report.error);
        return events.onEvent(this, 'hook', JSON.stringify({ hook, status: 'failed', error }));
      }
    }
  }

  async #save(
    runner: Runner,
    saveStep: SaveStep,
    { claim, seq, step, valueJson }: Extract<JobMessage, { type: 'save' }>,
  ): Promise<void> {
    if (this.#saves >= SAVES_MAX) {
      const problem = `${SAVES_MAX} steps are being stored at once: await them before the next`;
      return runner.saved(claim, seq, problem);
    }
    if (namesSealed(valueJson)) return runner.saved(claim, seq, RESERVED);
    this.#saves += 1;
    const problem = await saveStep(this, step, valueJson);
    this.#saves -= 1;
    if (this.#runner === runner) runner.saved(claim, seq, problem);
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

  /** One timer is enough: each step starts when the one before is over. */
  #after(delayMs: number, action: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(action, Math.min(TIMER_MS_MAX, delayMs));
  }

  #reported(message: Extract<JobMessage, { type: 'outcome' }>): Ended {
    const { outcome, exitCode = null, cpuMs, peakRssBytes } = message;
    const pid = this.#runner?.pid ?? null;
    return {
      outcome: this.#outcomeOf(outcome),
      usage: { pid, exitCode, signal: null, cpuMs, peakRssBytes },
    };
  }

  #exited({ code, signal, cause, cpuMs, peakRssBytes }: RunnerExit): Ended {
    const how = signal ? `signal ${signal}` : `exit code ${code}`;
    const message = `the process of the job ended (${how}) before the job had an outcome`;
    const error = cause ? failureOf(cause.code, cause.message) : failureOf('CRASHED', message);
    const pid = this.#runner?.pid ?? null;
    return {
      outcome: this.#outcomeOf({ kind: 'failure', error, retryAfterMs: null }),
      usage: { pid, exitCode: code, signal, cpuMs, peakRssBytes },
    };
  }

  /** A success counts. Otherwise the reason of the stop is the outcome. */
  #outcomeOf(reported: Outcome): Outcome {
    if (reported.kind === 'success') return reported;
    if (this.#asked === 'timeout') {
      const message = `ran longer than its ${this.#timeoutMs / 1_000} s`;
      return { kind: 'failure', error: failureOf('TIMEOUT', message), retryAfterMs: null };
    }
    if (this.#asked === 'drain') {
      return { kind: 'interrupted', message: 'the worker stopped before the job had ended' };
    }
    return reported;
  }
}

type JobReport = Exclude<JobMessage, { type: 'outcome' } | { type: 'save' }>;

/** The outcome of an attempt whose encrypted params or steps cannot be decrypted here. */
export function unreadable({ message }: CannotOpen): Ended {
  const error = failureOf('CANNOT_DECRYPT', message);
  return { outcome: { kind: 'failure', error, retryAfterMs: null }, usage: NO_USAGE };
}

/** Masks secrets in an error, and refuses a result that looks like an encrypted value. */
function asToBeKept(outcome: Outcome, mask: Mask): Outcome {
  if (outcome.kind === 'failure') return { ...outcome, error: mask.error(outcome.error) };
  if (outcome.kind !== 'success' || !namesSealed(outcome.resultJson)) return outcome;
  return { kind: 'failure', error: failureOf('RESULT_INVALID', RESERVED), retryAfterMs: null };
}
