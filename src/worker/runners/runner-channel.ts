import { randomInt } from 'node:crypto';
import { parseMessage } from './parse-message.ts';
import { LINE_MAX, lineMaxOf, messageLine, runLine } from '../ipc.ts';
import type { GroupJob, JobMessage, RunnerEvents, RunnerExit, RunnerReport } from './runner.ts';

/** The largest range of `randomInt`. */
const RUN_MAX = 2 ** 48 - 1;

export type OutcomeMessage = Extract<JobMessage, { type: 'outcome' }>;

/** Reports an outcome after everything that came before it was reported. */
export type OutcomeHandler = (
  message: OutcomeMessage,
  report: (message: OutcomeMessage) => void,
) => void;

/**
 * Receives the messages of a runner. A message counts for the current job, by a random number per
 * run, which remains of an earlier job cannot guess. After the outcome of a job, its messages are
 * dropped.
 */
export class RunnerChannel {
  /** How long a message of the current job may be. */
  lineMax = LINE_MAX;
  /** Resolves when the definitions are loaded. */
  readonly report: Promise<RunnerReport>;
  readonly #onOutcome: OutcomeHandler;
  readonly #onIdle: (busy: boolean) => void;
  #reported: ((report: RunnerReport) => void) | undefined;
  #events: RunnerEvents | undefined;
  #run: number | null = null;
  #claim = 0;
  #resultMaxBytes: number | undefined;
  /** The jobs of a group that have no outcome yet, by run. */
  #group: Map<number, { claim: number; events: RunnerEvents }> | undefined;
  #exit: RunnerExit | undefined;

  constructor(onOutcome: OutcomeHandler, onIdle: (busy: boolean) => void = () => undefined) {
    this.#onOutcome = onOutcome;
    this.#onIdle = onIdle;
    this.report = new Promise((resolve) => (this.#reported = resolve));
  }

  /** Returns the number that stands for the claim in messages from and to the runner. */
  begin(claim: number, events: RunnerEvents, resultMaxBytes?: number): number {
    const run = randomInt(RUN_MAX);
    this.#limitResults(resultMaxBytes);
    this.#run = run;
    this.#claim = claim;
    this.#events = events;
    if (this.#exit) this.exit(this.#exit);
    return run;
  }

  /** The same for the jobs of a group. */
  beginGroup(
    jobs: readonly { claim: number; events: RunnerEvents }[],
    resultMaxBytes?: number,
  ): number[] {
    this.#limitResults(resultMaxBytes);
    this.#group = new Map(jobs.map((job) => [randomInt(RUN_MAX), job]));
    const runs = [...this.#group.keys()];
    // Output is that of the whole group, and may arrive after the outcomes; the first job gets it.
    this.#events = jobs[0]?.events;
    if (this.#exit) this.exit(this.#exit);
    return runs;
  }

  /** Undefined: the default. A job must not inherit the limit of the one before it. */
  #limitResults(resultMaxBytes: number | undefined): void {
    this.#resultMaxBytes = resultMaxBytes;
    this.lineMax = lineMaxOf(resultMaxBytes);
  }

  /** Null when the runner does not run this claim. */
  runOf(claim: number): number | null {
    for (const [run, job] of this.#group ?? []) if (job.claim === claim) return run;
    if (this.#group) return null;
    return this.#claim === claim ? this.#run : null;
  }

  /** Drops further messages. */
  forget(): void {
    this.#run = null;
    this.#events = undefined;
    this.#group = undefined;
  }

  /** False when the line is not a valid message. */
  receive(line: string): boolean {
    const message = parseMessage(line, this.#resultMaxBytes);
    if (!message) return false;
    if (message.type === 'ready') {
      this.#reported?.(message);
      this.#reported = undefined;
      return true;
    }
    if (message.type === 'idle') {
      this.#onIdle(message.busy);
      return true;
    }
    if (this.#group) return this.#receiveOf(this.#group, message);
    if (message.claim !== this.#run) return true;
    const events = this.#events;
    const about = { ...message, claim: this.#claim };
    if (about.type === 'outcome') {
      this.#run = null;
      this.#onOutcome(about, (outcome) => events?.onMessage(outcome));
    } else {
      events?.onMessage(about);
    }
    return true;
  }

  #receiveOf(
    group: Map<number, { claim: number; events: RunnerEvents }>,
    message: JobMessage,
  ): boolean {
    const job = group.get(message.claim);
    if (!job) return true;
    const about = { ...message, claim: job.claim };
    if (about.type === 'outcome') {
      group.delete(message.claim);
      this.#onOutcome(about, (outcome) => job.events.onMessage(outcome));
    } else {
      job.events.onMessage(about);
    }
    return true;
  }

  output(stream: 'stdout' | 'stderr', line: string): void {
    this.#events?.onOutput(stream, line);
  }

  partOfLine(): void {
    this.#events?.onPartOfLine();
  }

  /** The runner is gone. Not reported for a job that has its outcome. */
  exit(exit: RunnerExit): void {
    this.#exit = exit;
    const group = [...(this.#group?.values() ?? [])];
    if (group.length > 0) {
      this.forget();
      for (const { events } of group) queueMicrotask(() => events.onExit(exit));
      return;
    }
    if (this.#run === null) return;
    const events = this.#events;
    this.forget();
    queueMicrotask(() => events?.onExit(exit));
  }
}

/** The messages that give a group to a runner: how many jobs, then each of them. */
export function groupLines(channel: RunnerChannel, jobs: readonly GroupJob[]): string[] {
  const started = jobs.map(({ command, events }) => ({ claim: command.claim, events }));
  const runs = channel.beginGroup(started, jobs[0]?.command.resultMaxBytes);
  const lines = jobs.map(({ command, paramsJson }, index) =>
    runLine({ ...command, claim: runs[index] ?? 0 }, paramsJson),
  );
  return [messageLine({ type: 'group', size: jobs.length }), ...lines];
}
