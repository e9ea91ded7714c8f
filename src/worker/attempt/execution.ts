import type { DefinitionInfo } from '../../core/definition/definition.ts';
import { failureOf } from '../../core/failure/failure.ts';
import type { JobError, OwnedState, Usage } from '../../core/job/job.ts';
import type { Outcome } from '../../core/job/lifecycle.ts';
import { namesSealed, SEALED } from '../../core/access/sealed.ts';
import { TIMER_MS_MAX } from '../../runtime/deadline.ts';
import type { ClaimedJob } from '../../store/claim/claim.ts';
import type { Accepted } from '../claim/work-queue.ts';
import type { NewLine, StepState } from './attempt-journal.ts';
import type { ChildRequest } from '../../core/dependency/children.ts';
import type { AbortReason, SaveAnswer, Saved, SaveRequest } from '../ipc.ts';
import { Mask } from './mask.ts';
import { RunningSteps } from './running-steps.ts';
import type { Secrets } from './secrets.ts';
import { Silence } from './silence.ts';
import type { JobMessage, Runner, RunnerEvents, RunnerExit } from '../runners/runner.ts';

/**
 * One attempt on one runner, from the command to the outcome. It always ends: on a cancel, a
 * timeout, a stall or a drain the job gets its abort signal; after the grace period SIGTERM goes to
 * the process group, and soon after SIGKILL.
 */

export interface Ended {
  outcome: Outcome;
  usage: Usage;
}

/** The decrypted input of an attempt. */
export interface AttemptInput {
  paramsJson: string;
  saved: Saved | undefined;
  secrets: Secrets | null;
}

/** Receives what the job reports while it runs; see `journal.ts`. */
export interface ExecutionEvents {
  onProgress(execution: Execution, update: { fraction: number; message: string | null }): void;
  onLine(execution: Execution, line: NewLine): void;
  onEvent(execution: Execution, type: 'custom' | 'hook', payloadJson: string): void;
  /** Not yet masked: a secret may be in several pieces. */
  onStream(execution: Execution, text: string): void;
  onStep(execution: Execution, name: string, state: StepState): void;
}

/** Stores a step or a checkpoint, and returns the problem if it could not. */
export type SaveStep = (execution: Execution, request: SaveRequest) => Promise<string | null>;

/** Stores children of the job. */
export type Spawn = (
  execution: Execution,
  children: readonly ChildRequest[],
) => Promise<SaveAnswer>;

/** What an attempt needs of its worker, the same for all its attempts. */
export interface AttemptPort {
  events: ExecutionEvents;
  saveStep: SaveStep;
  spawn: Spawn;
  /** Once, maybe before `run` returns. */
  onEnd(execution: Execution, runner: Runner, ended: Ended): void;
  /** What an attempt may stream; undefined for the default. */
  streamMaxBytes?: number | undefined;
  /** What an attempt may return; undefined for the default. */
  readonly resultMaxBytes?: number | undefined;
}

const KILL_AFTER_TERM_MS = 1_000;
/** Heartbeats in one stall timeout, so that a late one is not a stall. */
const HEARTBEATS = 4;
/** A well-behaved job awaits each answer; this many at once are a flood. */
const SAVES_MAX = 100;
const RESERVED = `the key ${SEALED} is not allowed: it marks encrypted values`;

export class Execution implements RunnerEvents {
  readonly shard: number;
  readonly job: ClaimedJob;
  readonly definition: DefinitionInfo;
  readonly tenant: string;
  /** See `Accepted`. */
  readonly secretsMark: string | null;
  /** The last known state in the database; `cancelling` after a cancel request. */
  state: OwnedState = 'running';
  /** The trace context of its code. */
  traceparent: string | null;
  /** Its index in an `ExecutionList`. */
  place = 0;
  /** When it took its slot (`worker/claim/slots.ts`). */
  slotMs = 0;
  /** When its code started, and how long it ran; null when it never started. */
  startedMs: number | null = null;
  durationMs: number | null = null;
  readonly #cancelGraceMs: number;
  #port: AttemptPort | undefined;
  #paramsJson = '';
  #secrets: Secrets | null = null;
  #mask: Mask | undefined;
  #runner: Runner | undefined;
  #asked: AbortReason | undefined;
  #lost = false;
  #ended = false;
  #saves = 0;
  #timer: NodeJS.Timeout | undefined;
  #silence: Silence | undefined;
  #steps: RunningSteps | undefined;

  constructor(
    shard: number,
    { job, definition, tenant, secretsMark }: Accepted,
    defaultCancelGraceMs: number,
  ) {
    this.shard = shard;
    this.job = job;
    this.definition = definition;
    this.tenant = tenant;
    this.secretsMark = secretsMark;
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

  /** Gives the job to the runner. Throws when the runner cannot start it. */
  run(runner: Runner, { paramsJson, saved, secrets }: AttemptInput, port: AttemptPort): void {
    this.#runner = runner;
    this.#port = port;
    this.#paramsJson = paramsJson;
    this.#secrets = secrets;
    const { id, claim, attempts: attempt, maxAttempts } = this.job;
    const { key, version, stallTimeoutMs } = this.definition;
    const heartbeatMs = stallTimeoutMs === null ? undefined : stallTimeoutMs / HEARTBEATS;
    const traceparent = this.traceparent ?? undefined;
    const asked = this.#asked;
    const command = {
      id,
      tenant: this.tenant,
      claim,
      attempt,
      maxAttempts,
      key,
      version,
      paramsShape: this.job.policy?.paramsShape,
      saved,
      traceparent,
      asked,
      heartbeatMs,
      secrets: secrets?.values,
      streamMaxBytes: port.streamMaxBytes,
      resultMaxBytes: port.resultMaxBytes,
    };
    try {
      runner.give(command, paramsJson, this);
    } catch (error) {
      this.#close();
      throw error;
    }
    if (this.#ended) return;
    if (asked) return this.#beginStopping(asked);
    this.#after(this.#timeoutMs, () => this.askToStop('timeout'));
    if (stallTimeoutMs === null) return;
    this.#silence = new Silence(stallTimeoutMs, () => this.#silent());
  }

  onMessage(message: JobMessage): void {
    if (message.claim !== this.job.claim) return;
    this.#silence?.sign();
    if (message.type === 'outcome') this.#end(this.#reported(message));
    else if (message.type === 'save') void this.#save(message);
    else if (message.type === 'spawn') void this.#spawn(message);
    else if (message.type === 'step') this.#step(message.name, message.state);
    else if (message.type !== 'heartbeat') this.#received(message);
  }

  /** The text without the secrets of the job. */
  masked(text: string): string {
    return this.#masking.text(text);
  }

  onPartOfLine(): void {
    this.#silence?.sign();
  }

  onOutput(stream: 'stdout' | 'stderr', line: string): void {
    this.#silence?.sign();
    const level = stream === 'stderr' ? 'error' : 'info';
    const message = this.#masking.text(line);
    this.#port?.events.onLine(this, { stream, message, level });
  }

  onExit(exit: RunnerExit): void {
    this.#end(this.#exited(exit));
  }

  /** The first end counts. */
  #end({ outcome, usage }: Ended): void {
    const runner = this.#runner;
    if (!runner) return;
    this.#close();
    this.#port?.onEnd(this, runner, { outcome: this.#kept(outcome), usage });
  }

  /** The runner soon has the next job, which a cancel or fence of this one must not reach. */
  #close(): void {
    clearTimeout(this.#timer);
    this.#silence?.stop();
    this.#ended = true;
    this.#runner = undefined;
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

  #received(report: JobReport): void {
    const events = this.#port?.events;
    if (report.type === 'stream') return events?.onStream(this, report.text);
    const mask = this.#masking;
    switch (report.type) {
      case 'progress': {
        const message = report.message === null ? null : mask.text(report.message);
        return events?.onProgress(this, { ...report, message });
      }
      case 'log':
        return events?.onLine(this, {
          ...report,
          message: mask.text(report.message),
          stream: 'logger',
        });
      case 'event': {
        const { name, payloadJson } = report;
        const payload = `{"type":${JSON.stringify(name)},"payload":${payloadJson}}`;
        return events?.onEvent(this, 'custom', mask.json(payload));
      }
      case 'hook-failed': {
        const { hook } = report;
        const error = mask.error(report.error);
        return events?.onEvent(this, 'hook', JSON.stringify({ hook, status: 'failed', error }));
      }
    }
  }

  #step(name: string, state: StepState): void {
    this.#steps ??= new RunningSteps();
    if (state !== 'started') this.#steps.ended(name);
    else if (!this.#steps.started(name)) return;
    this.#port?.events.onStep(this, this.#masking.text(name), state);
  }

  async #save(message: Extract<JobMessage, { type: 'save' }>): Promise<void> {
    const { claim, seq, step, valueJson, durationMs } = message;
    await this.#stored(claim, seq, 'steps', async ({ saveStep }) => {
      if (namesSealed(valueJson)) return { problem: RESERVED };
      const problem = await saveStep(this, { step, valueJson, durationMs });
      if (problem === null && step !== null && this.#steps) this.#step(step, 'stored');
      return { problem };
    });
  }

  async #spawn({ claim, seq, children }: Extract<JobMessage, { type: 'spawn' }>): Promise<void> {
    await this.#stored(claim, seq, 'lists of children', async ({ spawn }) => {
      return await spawn(this, children);
    });
  }

  /** Answers a request of the job to store something. */
  async #stored(
    claim: number,
    seq: number,
    what: string,
    store: (port: AttemptPort) => Promise<SaveAnswer>,
  ): Promise<void> {
    const runner = this.#runner;
    if (!runner || !this.#port) return;
    if (this.#saves >= SAVES_MAX) {
      const problem = `${SAVES_MAX} ${what} are being stored at once: await them before the next`;
      return runner.saved(claim, seq, { problem });
    }
    this.#saves += 1;
    const answer = await store(this.#port);
    this.#saves -= 1;
    this.#silence?.sign();
    if (this.#runner === runner) runner.saved(claim, seq, answer);
  }

  get #masking(): Mask {
    this.#mask ??= new Mask(this.definition.redact, this.#paramsJson, this.#secrets?.values);
    return this.#mask;
  }

  /**
   * Masks secrets in an error, and those of the job also in a result; refuses a result that looks
   * like an encrypted value.
   */
  #kept(outcome: Outcome): Outcome {
    if (outcome.kind === 'failure') {
      return { ...outcome, error: this.#masking.error(outcome.error) };
    }
    if (outcome.kind !== 'success') return outcome;
    if (!namesSealed(outcome.resultJson)) return this.#withoutSecrets(outcome);
    return { kind: 'failure', error: failureOf('RESULT_INVALID', RESERVED), retryAfterMs: null };
  }

  #withoutSecrets(outcome: Extract<Outcome, { kind: 'success' }>): Outcome {
    if (this.#secrets === null) return outcome;
    return { ...outcome, resultJson: this.#masking.result(outcome.resultJson) };
  }

  get #timeoutMs(): number {
    return this.job.policy?.timeoutMs ?? this.definition.timeoutMs;
  }

  /** A job that waits for its worker to store a step is not stalled. */
  #silent(): void {
    if (this.#saves > 0) this.#silence?.sign();
    else this.askToStop('stall');
  }

  #beginStopping(reason: AbortReason): void {
    this.#silence?.stop();
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
      outcome: this.#outcomeOf(this.#stopped(error, null)),
      usage: { pid, exitCode: code, signal, cpuMs, peakRssBytes },
    };
  }

  /** A success counts. Otherwise the reason of the stop is the outcome. */
  #outcomeOf(reported: Outcome): Outcome {
    if (reported.kind === 'success') return reported;
    if (this.#asked === 'timeout') {
      const message = `ran longer than its ${this.#timeoutMs / 1_000} s`;
      return this.#stopped(failureOf('TIMEOUT', message), reported);
    }
    if (this.#asked === 'stall') {
      const message = `gave no sign of life for ${(this.definition.stallTimeoutMs ?? 0) / 1_000} s`;
      return this.#stopped(failureOf('STALLED', message), reported);
    }
    if (this.#asked === 'drain') {
      return { kind: 'interrupted', message: 'the worker stopped before the job had ended' };
    }
    return reported;
  }

  /** The step that threw because of the stop, or else the one that still ran. */
  #stopped(error: JobError, reported: Outcome | null): Outcome {
    const step = reported?.kind === 'failure' ? reported.error.step : undefined;
    const placed = step ? { ...error, step } : (this.#steps?.in(error) ?? error);
    return { kind: 'failure', error: placed, retryAfterMs: null };
  }
}

type JobReport = Exclude<JobMessage, { type: 'outcome' | 'save' | 'spawn' | 'step' | 'heartbeat' }>;
