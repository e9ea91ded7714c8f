import type { DeclaredSchedule, ScheduleInput } from './declared-schedule.ts';
import type { AboutInput, DefinitionAbout } from './definition-about.ts';
import type { RetryPolicy } from '../job/job.ts';
import type { Limits, LimitsInput } from '../queue/limits.ts';
import type { HookName } from '../views/history.ts';

/**
 * What is known of a definition without its code: the part that a runner reports to its worker, that
 * the worker publishes in the database, and that the API lists.
 */
export interface DefinitionInfo extends DefinitionAbout {
  key: string;
  version: number;
  maxAttempts: number;
  timeoutMs: number;
  retry: RetryPolicy;
  retryOn: string[] | null;
  cancelGraceMs: number | null;
  maxInterruptions: number;
  isolation: Isolation;
  /** For the whole process with all its children; null: what the worker sets, 0: no limit. */
  memoryMb: number | null;
  /** As its code says; people may have said otherwise (`store/limits/limits.ts`). */
  limits: Limits;
  hooks: HookName[];
  /** The program of `defineCommand`; null for a function. */
  command: CommandInfo | null;
  /** What of its params, results and events is hidden, beyond what names give away. */
  redact: string[];
  /** The schedules that its code asks for. */
  schedules: DeclaredSchedule[];
  paramsSchema: unknown;
}

export interface CommandInfo {
  argv: string[];
  /** Where it runs. Null: beside the file of the definition, which only its loader knows. */
  cwd: string | null;
}

/** Where a job runs: a warm process, a process used once, a thread, or the worker itself. */
export const ISOLATIONS = ['process', 'fresh', 'thread', 'inline'] as const;
export type Isolation = (typeof ISOLATIONS)[number];

/** The policy part of what `defineJob` takes. Everything is optional but the key. */
export interface DefinitionPolicy extends LimitsInput, AboutInput {
  key: string;
  version?: number | undefined;
  maxAttempts?: number | undefined;
  defaultMaxAttempts?: number | undefined;
  timeoutSeconds?: number | undefined;
  retry?: RetryInput | undefined;
  retryOn?: readonly string[] | undefined;
  cancelGraceMs?: number | undefined;
  maxInterruptions?: number | undefined;
  isolation?: Isolation | undefined;
  /** For the process with all its children; 512 unless the worker is set otherwise; 0 is no limit. */
  memoryMb?: number | undefined;
  /** Paths to hide, such as `card.number`; `*` stands for any one name. */
  redact?: readonly string[] | undefined;
  schedule?: ScheduleInput | undefined;
}

/** What a definition has besides its policy: the parts that are code, told by name. */
export interface DefinitionParts {
  paramsSchema: unknown;
  hooks?: readonly HookName[];
  command?: CommandInfo | null;
}

/** How people write a retry policy: a preset's name, an explicit list, or any part of the default. */
export type RetryInput =
  | 'webhook'
  | 'report'
  | 'cleanup'
  | { baseMs?: number | undefined; maxMs?: number | undefined; jitter?: number | undefined }
  | { delaysMs: readonly number[]; jitter?: number | undefined };

export const DEFAULT_MAX_ATTEMPTS = 3;
export const DEFAULT_TIMEOUT_SECONDS = 3_600;
export const DEFAULT_MAX_INTERRUPTIONS = 10;
export const MEMORY_MB_MIN = 64;
export const MEMORY_MB_MAX = 1_048_576;
export const PRIORITY_MAX = 1_000_000;
export const MAX_ATTEMPTS_MAX = 1_000;
export const TIMEOUT_SECONDS_MAX = 30 * 24 * 3_600;
export const KEY_SHAPE = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,199}$/;

export class DefinitionError extends Error {
  override name = 'DefinitionError';
}
