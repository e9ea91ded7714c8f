import { CHILDREN_STEP, isWaitChildrenStep, type KnownChild } from '../dependency/children.ts';
import type { JobOutcome } from '../dependency/dependency.ts';
import type { ChildOutcomeView, OutcomeView } from '../dependency/outcomes.ts';
import type { Level, LogStream } from '../views/history.ts';
import type { JobError } from './job.ts';
import { isReservedStep } from './signal.ts';

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
  /** What `ctx.parents` has. */
  parents: readonly JobOutcome[];
  /** The children on the server. */
  children: readonly KnownChild[];
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
  /** Children that it would spawn and that the server does not have; none is started. */
  spawned: { name: string; definitionKey: string }[];
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
 * checkpoint counts if it is older than that step. Children stay with the job, and for how many it
 * waits: they are jobs of their own, which ended on the server.
 */
export function reusedSteps(
  { steps, checkpoint }: StoredSteps,
  from: string | null,
): { steps: Record<string, unknown>; checkpoint: unknown } {
  const index = steps.findIndex(({ name }) => name === from);
  const isEarlier = (at: number) => index < 0 || at < index;
  const kept = steps.filter(
    ({ name }, at) => name !== CHILDREN_STEP && (isEarlier(at) || isWaitChildrenStep(name)),
  );
  const startedAt = steps[index]?.at;
  const isKept = checkpoint !== null && (startedAt === undefined || checkpoint.at < startedAt);
  return {
    steps: Object.fromEntries(kept.map(({ name, value }) => [name, value])),
    checkpoint: isKept ? checkpoint.value : undefined,
  };
}

/** Names of the steps of the code, without those of Longshore itself. */
export function ownSteps(names: readonly string[]): string[] {
  return names.filter((name) => !isReservedStep(name));
}

/** What `ctx.parents` has; a parent that has not ended is not among them. */
export function parentOutcomes(parents: readonly OutcomeView[]): JobOutcome[] {
  return parents.flatMap(({ jobId, status, result, error, omitted }) =>
    status === null
      ? []
      : [{ id: jobId, state: status, result, error, ...(omitted && { omitted }) }],
  );
}

export function knownChildren(children: readonly ChildOutcomeView[]): KnownChild[] {
  return children.map(({ jobId, name, asked, status, result, error, omitted }) => {
    const outcome =
      status === null ? null : { state: status, result, error, ...(omitted && { omitted }) };
    return { id: jobId, name, asked, outcome };
  });
}
