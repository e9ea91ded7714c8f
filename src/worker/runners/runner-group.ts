import type { AbortReason, RunCommand, SaveAnswer } from '../ipc.ts';
import {
  type GroupJob,
  type JobMessage,
  PLAIN_EXIT,
  type Runner,
  type RunnerEvents,
  type RunnerExit,
} from './runner.ts';

const KILL_AFTER_TERM_MS = 1_000;

/**
 * Lets several attempts share one runner. Each attempt has a member, which is its runner; when all
 * have given their job, the runner gets them as one group. A job that has to stop gets its abort
 * signal, but the process ends only when all jobs that are left have to: the others go on.
 */
export class RunnerGroup {
  readonly runner: Runner;
  readonly members: readonly GroupMember[];
  readonly #onFree: () => void;
  readonly #jobs: GroupJob[] = [];
  #open: number;
  #timer: NodeJS.Timeout | undefined;

  /** Calls `onFree` when all members have ended. */
  constructor(runner: Runner, size: number, onFree: () => void) {
    this.runner = runner;
    this.#onFree = onFree;
    this.#open = size;
    this.members = Array.from({ length: size }, (_, index) => new GroupMember(this, index));
  }

  give(job: GroupJob): void {
    this.#jobs.push(job);
    if (this.#jobs.length < this.members.length) return;
    try {
      this.runner.giveGroup(this.#jobs);
    } catch (error) {
      const message = `the runner did not take the group: ${String(error)}`;
      const exit = { ...PLAIN_EXIT, cause: { code: 'CRASHED', message } } as const;
      for (const { events } of this.#jobs) queueMicrotask(() => events.onExit(exit));
    }
  }

  /** A sign of life of one is one of all: they run in one call. */
  sign(from: GroupMember): void {
    for (const member of this.members) if (member !== from) member.sign();
  }

  /** Output is that of the whole group: it belongs to the first job that has not ended. */
  output(stream: 'stdout' | 'stderr', line: string): void {
    for (const member of this.members) if (!member.isFree) return member.line(stream, line);
  }

  ended(): void {
    this.#open -= 1;
    if (this.#open > 0) return this.endIfAllMust();
    clearTimeout(this.#timer);
    this.#onFree();
  }

  endIfAllMust(): void {
    if (this.#timer || !this.members.every(({ mayEnd }) => mayEnd)) return;
    this.runner.terminate();
    this.#timer = setTimeout(() => this.runner.kill(), KILL_AFTER_TERM_MS);
  }
}

/** The runner of one attempt of a group. Its index stands for the claim, which others may have too. */
export class GroupMember implements Runner, RunnerEvents {
  readonly #group: RunnerGroup;
  readonly #index: number;
  #claim = 0;
  #events: RunnerEvents | undefined;
  #mustEnd = false;
  #isFree = false;

  constructor(group: RunnerGroup, index: number) {
    this.#group = group;
    this.#index = index;
  }

  get pid(): number | null {
    return this.#group.runner.pid;
  }

  get alive(): boolean {
    return this.#group.runner.alive;
  }

  get isFree(): boolean {
    return this.#isFree;
  }

  /** It has ended, or has to. */
  get mayEnd(): boolean {
    return this.#isFree || this.#mustEnd;
  }

  give(command: Omit<RunCommand, 'params'>, paramsJson: string, events: RunnerEvents): void {
    this.#claim = command.claim;
    this.#events = events;
    this.#group.give({
      command: { ...command, claim: this.#index },
      paramsJson,
      events: this,
    });
  }

  giveGroup(): never {
    throw new Error('a member of a group takes one job');
  }

  /** The attempt has ended; the runner is free when all have. */
  release(): void {
    if (this.#isFree) return;
    this.#isFree = true;
    this.forget();
    this.#group.ended();
  }

  forget(): void {
    this.#events = undefined;
  }

  abort(_claim: number, reason: AbortReason): void {
    this.#group.runner.abort(this.#index, reason);
  }

  saved(_claim: number, seq: number, answer: SaveAnswer): void {
    this.#group.runner.saved(this.#index, seq, answer);
  }

  terminate(): void {
    this.#mustEnd = true;
    this.#group.endIfAllMust();
  }

  /** Without a request to stop before, the claim is lost: no code of the job may go on. */
  kill(): void {
    if (!this.#mustEnd) this.#group.runner.kill();
  }

  onMessage(message: JobMessage): void {
    this.#group.sign(this);
    this.#events?.onMessage({ ...message, claim: this.#claim });
  }

  onOutput(stream: 'stdout' | 'stderr', line: string): void {
    this.#group.output(stream, line);
  }

  line(stream: 'stdout' | 'stderr', line: string): void {
    this.#group.sign(this);
    this.#events?.onOutput(stream, line);
  }

  onPartOfLine(): void {
    this.#group.sign(this);
    this.sign();
  }

  sign(): void {
    this.#events?.onPartOfLine();
  }

  onExit(exit: RunnerExit): void {
    this.#events?.onExit(exit);
  }
}
