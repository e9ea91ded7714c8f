import type { DefinitionInfo } from '../../core/definition/definition.ts';
import type { AbortReason, FromRunner, RunCommand } from '../ipc.ts';

/**
 * What executes jobs, one at a time: a process, or (for definitions that opt in) the worker itself.
 * A runner is given a job and answers through the events, exactly once with an outcome or an exit.
 */
export interface Runner {
  /** The process that runs the job. */
  readonly pid: number | null;
  /** False when it cannot take another job. */
  readonly alive: boolean;
  give(command: Omit<RunCommand, 'params'>, paramsJson: string, events: RunnerEvents): void;
  /** Nobody listens any more; a late word about an ended job falls to the floor. */
  forget(): void;
  /** Passes the abort signal on. */
  abort(claim: number, reason: AbortReason): void;
  /** Answers a `save`: it is durable, or this is why it is not. */
  saved(claim: number, seq: number, problem: string | null): void;
  /** Asks the process to end. */
  terminate(): void;
  /** Ends the process and everything it has started. */
  kill(): void;
}

/** What a runner says about the job it was given. */
export type JobMessage = Exclude<FromRunner, { type: 'ready' } | { type: 'idle' }>;

export interface RunnerEvents {
  onMessage(message: JobMessage): void;
  onOutput(stream: 'stdout' | 'stderr', line: string): void;
  onExit(exit: RunnerExit): void;
}

export interface RunnerExit {
  code: number | null;
  signal: string | null;
  /** What the worker saw of it from outside; null where it could not look. */
  peakRssBytes: number | null;
  cpuMs: number | null;
  /** Why the worker ended it, or what it knows of its end beyond code and signal. */
  cause: { code: 'OUT_OF_MEMORY' | 'CRASHED'; message: string } | null;
}

export const PLAIN_EXIT: RunnerExit = {
  code: null,
  signal: null,
  peakRssBytes: null,
  cpuMs: null,
  cause: null,
};

/** A runner that is started ahead of its jobs, and ends. */
export interface SpawnedRunner extends Runner {
  /** Resolves when it is gone with everything that came from it. */
  readonly exited: Promise<RunnerExit>;
  /** Resolves when it has loaded the definitions; rejects when that cannot be. */
  ready(): Promise<RunnerReport>;
}

/** Which definitions were found, and a sentence for each file that could not be used. */
export interface RunnerReport {
  definitions: DefinitionInfo[];
  problems: string[];
}

/**
 * Where the runners of one kind come from. Whoever acquires one releases it. A runner that has had a
 * job of one tenant is never given to another tenant.
 */
export interface RunnerSource {
  acquire(tenant: string): Promise<Runner> | Runner;
  release(runner: Runner): void;
}
