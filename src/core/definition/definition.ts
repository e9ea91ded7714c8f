import type { DeclaredSchedule, ScheduleInput } from './declared-schedule.ts';
import type { AboutInput, DefinitionAbout } from './definition-about.ts';
import type { GroupRule } from './group.ts';
import type { RetryPolicy } from '../job/job.ts';
import type { Limits, LimitsInput } from '../queue/limits.ts';
import type { HookName } from '../views/history.ts';

/**
 * The metadata of a definition: a runner reports it to its worker, the worker publishes it in the
 * database, and the API lists it.
 */
export interface DefinitionInfo extends DefinitionAbout {
  key: string;
  version: number;
  maxAttempts: number;
  timeoutMs: number;
  /** The longest silence of an attempt; null: no limit. */
  stallTimeoutMs: number | null;
  retry: RetryPolicy;
  retryOn: string[] | null;
  cancelGraceMs: number | null;
  maxInterruptions: number;
  isolation: Isolation;
  /** For the process and its children. Null: the default of the worker; 0: no limit. */
  memoryMb: number | null;
  /** The limits in the code. An override may replace them (`store/limits/limits.ts`). */
  limits: Limits;
  hooks: HookName[];
  /** The program of `defineCommand`; null for a function. */
  command: CommandInfo | null;
  /** Extra paths to redact in params, results and events, besides secret names. */
  redact: string[];
  /** The schedules declared in its code. */
  schedules: DeclaredSchedule[];
  paramsSchema: unknown;
  /** The shape of params that its code works with; 1 without `upgrade`. */
  paramsShape: number;
  /** How its jobs run in groups; null: each alone. */
  group: GroupRule | null;
  /** Of its file and what that imports; absent for code without a file. It is not shown. */
  codeHash?: string;
}

/** As workers announce it. */
export function definitionName({ key, version }: Pick<DefinitionInfo, 'key' | 'version'>): string {
  return `${key}@${version}`;
}

export interface CommandInfo {
  argv: string[];
  /**
   * The working directory. Null: the folder of the definition's file, which only the loader knows.
   */
  cwd: string | null;
}

/** Where a job runs: a warm process, a process for one job, a thread, or the worker itself. */
export const ISOLATIONS = ['process', 'fresh', 'thread', 'inline'] as const;
export type Isolation = (typeof ISOLATIONS)[number];

/** The policy options of `defineJob`. Only the key is required. */
export interface DefinitionPolicy extends LimitsInput, AboutInput {
  key: string;
  version?: number | undefined;
  maxAttempts?: number | undefined;
  defaultMaxAttempts?: number | undefined;
  /** Another name of `concurrencyKeyLimit`. */
  concurrencyLimitPerKey?: number | undefined;
  timeoutSeconds?: number | undefined;
  /**
   * An attempt without a sign of life (`ctx.heartbeat`, log line, progress, event, step, output) for
   * this long fails with `STALLED`. Default: no limit.
   */
  stallTimeoutMs?: number | undefined;
  retry?: RetryInput | undefined;
  retryOn?: readonly string[] | undefined;
  cancelGraceMs?: number | undefined;
  maxInterruptions?: number | undefined;
  isolation?: Isolation | undefined;
  /** For the process and its children; 512 by default; 0 means no limit. */
  memoryMb?: number | undefined;
  /** Paths to hide, such as `card.number`; `*` stands for any one name. */
  redact?: readonly string[] | undefined;
  schedule?: ScheduleInput | undefined;
}

/** What a definition has besides its policy: which parts are code. */
export interface DefinitionParts {
  paramsSchema: unknown;
  paramsShape?: number;
  group?: GroupRule | null;
  hooks?: readonly HookName[];
  command?: CommandInfo | null;
}

/** A retry policy as input: the name of a preset, a list of delays, or a part of the default. */
export type RetryInput =
  | 'webhook'
  | 'report'
  | 'cleanup'
  | { baseMs?: number | undefined; maxMs?: number | undefined; jitter?: number | undefined }
  | { delaysMs: readonly number[]; jitter?: number | undefined };

export const DEFAULT_MAX_ATTEMPTS = 3;
export const DEFAULT_TIMEOUT_SECONDS = 3_600;
export const DEFAULT_MAX_INTERRUPTIONS = 10;
/** What a job process may use where neither its definition nor the worker says. */
export const RUNNER_MEMORY_MB = 512;
export const THREAD_MEMORY_MB = 256;
export const MEMORY_MB_MIN = 64;
export const MEMORY_MB_MAX = 1_048_576;
export const PRIORITY_MAX = 1_000_000;
export const MAX_ATTEMPTS_MAX = 1_000;
export const TIMEOUT_SECONDS_MAX = 30 * 24 * 3_600;
export const STALL_TIMEOUT_MS_MIN = 1_000;
export const STALL_TIMEOUT_MS_MAX = 24 * 3_600_000;
export const KEY_SHAPE = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,199}$/;

export class DefinitionError extends Error {
  override name = 'DefinitionError';
}
