import type { DefinitionInfo } from '../../core/definition/definition.ts';
import type { AbortReason, CodeFiles, FromRunner, RunCommand, SaveAnswer } from '../ipc.ts';

/**
 * Executes jobs, one at a time: a process, a program, a thread, or (for definitions that opt in) the
 * worker itself. A runner gets a job and answers through the events, exactly once with an outcome or an
 * exit.
 */
export interface Runner {
  /** The process that runs the job. */
  readonly pid: number | null;
  /** False when it cannot take another job. */
  readonly alive: boolean;
  give(command: Omit<RunCommand, 'params'>, paramsJson: string, events: RunnerEvents): void;
  /** Jobs of one definition that run in one call; each has its own claim and events. */
  giveGroup(jobs: readonly GroupJob[]): void;
  /** Messages for an ended job are dropped. */
  forget(): void;
  /** Passes the abort signal on. */
  abort(claim: number, reason: AbortReason): void;
  /** Answers a `save` or `spawn`. */
  saved(claim: number, seq: number, answer: SaveAnswer): void;
  /** Asks the process to exit. */
  terminate(): void;
  /** Ends the process and everything it has started. */
  kill(): void;
}

export interface GroupJob {
  command: Omit<RunCommand, 'params'>;
  paramsJson: string;
  events: RunnerEvents;
}

/** What a runner reports about its job. */
export type JobMessage = Exclude<FromRunner, { type: 'ready' } | { type: 'idle' }>;

export interface RunnerEvents {
  onMessage(message: JobMessage): void;
  onOutput(stream: 'stdout' | 'stderr', line: string): void;
  /** It wrote something that is not a whole line yet. */
  onPartOfLine(): void;
  onExit(exit: RunnerExit): void;
}

export interface RunnerExit {
  code: number | null;
  signal: string | null;
  /** What the worker measured from outside; null where it could not. */
  peakRssBytes: number | null;
  cpuMs: number | null;
  /** Why the worker ended it, or what it knows beyond exit code and signal. */
  cause: { code: 'OUT_OF_MEMORY' | 'CRASHED'; message: string } | null;
}

export const PLAIN_EXIT: RunnerExit = {
  code: null,
  signal: null,
  peakRssBytes: null,
  cpuMs: null,
  cause: null,
};

/** A runner that is started ahead of its jobs. */
export interface SpawnedRunner extends Runner {
  /** Resolves when it is gone with everything that came from it. */
  readonly exited: Promise<RunnerExit>;
  /** Resolves when it has loaded the definitions; rejects when it cannot. */
  ready(): Promise<RunnerReport>;
}

/** The definitions that were found, and a message for each file that could not be loaded. */
export interface RunnerReport {
  definitions: DefinitionInfo[];
  problems: string[];
  /** Warnings about the machine; all definitions run nevertheless. */
  warnings?: string[];
  /** What it compiled; see `runner/prepared-code.ts`. */
  files?: CodeFiles;
}

/**
 * A source of runners of one kind. Each acquired runner must be released. A runner that has run a
 * job of one owner is never given to another. An owner is a tenant, or a tenant with a set of
 * secrets (`worker/attempt/secrets.ts`).
 */
export interface RunnerSource {
  acquire(owner: string): Promise<Runner> | Runner;
  release(runner: Runner): void;
}
