import type { Level, LogStream } from '../views/history.ts';
import type { JobError } from './job.ts';

/** What the process of `longshore replay` gets: a job as the server has stored it. */
export interface ReplayRequest {
  /** File or folder of the definitions. */
  jobs: string;
  jobId: string;
  key: string;
  version: number;
  params: unknown;
  paramsShape: number;
  attempt: number;
  maxAttempts: number;
  /** Stored steps that are not run again. */
  steps: Record<string, unknown>;
  checkpoint: unknown;
  secrets: Record<string, string>;
  /** Waits here for a debugger; null without one. */
  inspectPort: number | null;
}

export interface ReplayEnd {
  /** The state that the job would have. */
  status: string;
  result: unknown;
  error: JobError | null;
  nextInMs: number | null;
  /** Names of all stored steps, the reused ones included. */
  steps: string[];
}

export interface ReplayLine {
  level: Level;
  stream: LogStream;
  message: string;
}

/** What it sends: log lines and notes, then how it ended or why it could not begin. */
export type ReplayMessage =
  { line: ReplayLine } | { note: string } | { ended: ReplayEnd } | { refused: string };

interface StoredSteps {
  steps: readonly { name: string; at: string; value: unknown }[];
  checkpoint: { at: string; value: unknown } | null;
}

/**
 * What a replay reuses: all that is stored, or what was stored before the step `from`. The
 * checkpoint counts if it is older than that step.
 */
export function reusedSteps(
  { steps, checkpoint }: StoredSteps,
  from: string | null,
): { steps: Record<string, unknown>; checkpoint: unknown } {
  const index = steps.findIndex(({ name }) => name === from);
  const kept = index < 0 ? steps : steps.slice(0, index);
  const startedAt = steps[index]?.at;
  const isKept = checkpoint !== null && (startedAt === undefined || checkpoint.at < startedAt);
  return {
    steps: Object.fromEntries(kept.map(({ name, value }) => [name, value])),
    checkpoint: isKept ? checkpoint.value : undefined,
  };
}
