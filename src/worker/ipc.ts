import type { DefinitionInfo } from '../core/definition/definition.ts';
import type { ChildRequest, SpawnedChild } from '../core/dependency/children.ts';
import { YEAR_MS } from '../core/values/duration.ts';
import type { JobError } from '../core/job/job.ts';
import type { Outcome } from '../core/job/lifecycle.ts';
import type { HookName, Level } from '../core/views/history.ts';

/**
 * The messages between a worker and its runner: one JSON document per line on a socket, which is
 * file descriptor 3 of the runner. Every message about a job carries its claim number. Two jobs may
 * have the same number, so messages of an ended job are dropped: its session sends nothing more,
 * and its execution answers nothing. Both sides use this file; it knows no process and no socket.
 */

export type ToRunner =
  /** The first message: how to load the definitions. */
  | ({ type: 'load' } & LoadPlan)
  | { type: 'run'; job: RunCommand }
  /** The next `size` jobs run as one group, when all have arrived. */
  | { type: 'group'; size: number }
  | { type: 'abort'; claim: number; reason: AbortReason }
  /** The answer to a `save` or `spawn`; the problem is null when it is durable. */
  | ({ type: 'saved'; claim: number; seq: number } & SaveAnswer)
  /** Asks an idle runner whether it is really idle. */
  | { type: 'ask-idle' };

export type AbortReason = 'cancel' | 'timeout' | 'stall' | 'drain';

export interface LoadPlan {
  /** Compiled files by URL; null: the runner compiles files itself, and reports them. */
  files: CodeFiles | null;
  /** URLs of modules, each with the URL of the module to load instead. */
  modules: Record<string, string>;
  /** The deployment whose code is loaded; absent for a folder of definitions. */
  deployment?: DeploymentPlan | undefined;
}

export interface DeploymentPlan {
  /** The version of its definitions. */
  number: number;
  /** The JSON of `longshore.json`. */
  manifest: unknown;
  /** URLs of the modules that it does not bring, by name: `longshore` itself. */
  provided: Record<string, string>;
}

/** The state tells whether the file has changed since. */
export type CodeFiles = Record<string, { state: string; source: string }>;

export interface RunCommand {
  id: string;
  tenant: string;
  claim: number;
  attempt: number;
  maxAttempts: number;
  key: string;
  version: number;
  params: unknown;
  /** The shape of the params; absent for 1. */
  paramsShape?: number | undefined;
  /** What earlier attempts stored; absent when there were none. */
  saved?: Saved | undefined;
  /** The trace context. */
  traceparent?: string | undefined;
  /** The job was asked to stop before it started: its abort signal is aborted from the beginning. */
  asked?: AbortReason | undefined;
  /** How often its heartbeats are of use; absent when the definition has no stall timeout. */
  heartbeatMs?: number | undefined;
  /** Its secrets, by name; absent when it has none. */
  secrets?: Readonly<Record<string, string>> | undefined;
  /** What it may stream; absent for the default. */
  streamMaxBytes?: number | undefined;
  /** What it may return; absent for the default. */
  resultMaxBytes?: number | undefined;
}

export interface Saved {
  checkpoint?: unknown;
  steps: Record<string, unknown>;
  /** How long ago sleeps and waits were stored; absent when there are none. */
  agesMs?: Record<string, number> | undefined;
}

export type FromRunner =
  | { type: 'ready'; definitions: DefinitionInfo[]; problems: string[]; files?: CodeFiles }
  /** The answer to `ask-idle`. */
  | { type: 'idle'; busy: boolean }
  | { type: 'progress'; claim: number; fraction: number; message: string | null }
  | { type: 'log'; claim: number; level: Level; message: string }
  /** A sign of life, and nothing else. */
  | { type: 'heartbeat'; claim: number }
  | { type: 'event'; claim: number; name: string; payloadJson: string }
  /** A piece of the live output. */
  | { type: 'stream'; claim: number; text: string }
  /** A hook that runs beside the job failed; it is reported and changes nothing. */
  | { type: 'hook-failed'; claim: number; hook: HookName; error: JobError }
  /** A step of the code started or failed; its end is known by its `save`. */
  | { type: 'step'; claim: number; name: string; state: 'started' | 'failed' }
  /** The result of a step, or the checkpoint when `step` is null. */
  | ({ type: 'save'; claim: number; seq: number } & SaveRequest)
  /** Children to store. */
  | { type: 'spawn'; claim: number; seq: number; children: ChildRequest[] }
  /** The exit code of a command; the worker sets it, the runner never sends it. */
  | ({ type: 'outcome'; claim: number; outcome: Outcome; exitCode?: number | null } & Measured);

export interface SaveRequest {
  step: string | null;
  valueJson: string;
  /** How long the step ran; null for the checkpoint. */
  durationMs: number | null;
}

export interface SaveAnswer {
  problem: string | null;
  /** The stored children, in the order of the request. */
  spawned?: SpawnedChild[] | undefined;
}

/** What the runner measured of itself; null where it cannot. */
export interface Measured {
  cpuMs: number | null;
  peakRssBytes: number | null;
  /**
   * Whether the runner must not be used again: the job started processes or threads, of which some may
   * be left, changed the working directory or built-in prototypes, or let an error escape.
   */
  spent: boolean;
}

export const STEP_NAME_MAX = 200;
/** A column of 32 bits; 24 days. */
export const STEP_MS_MAX = 2 ** 31 - 1;
export const EVENT_NAME_MAX = 100;
export const EVENT_PAYLOAD_MAX = 65_536;
/** Of one message, in characters; a longer text is sent in several. */
export const STREAM_TEXT_MAX = 32_768;
/** For progress messages and errors. */
export const MESSAGE_MAX = 8_192;
export const SNOOZE_MS_MAX = YEAR_MS;
/** For a checkpoint or the result of a step. */
export const SAVED_MAX_BYTES = 1_048_576;

/** In characters. Longer lines end the connection: no valid message is that long. */
export const LINE_MAX = 16 * 1_048_576;

/** The longest line of a runner whose results may be large: a quotation mark takes two characters. */
export function lineMaxOf(resultMaxBytes: number | undefined): number {
  return resultMaxBytes === undefined ? LINE_MAX : LINE_MAX + 2 * resultMaxBytes;
}

/** The params are already JSON text; they are not parsed and serialised again. */
export function runLine(job: Omit<RunCommand, 'params'>, paramsJson: string): string {
  const head = JSON.stringify({ type: 'run', job: { ...job, params: 0 } });
  // Only params written by plain SQL can contain line breaks, which would end the message.
  const params = paramsJson.includes('\n') ? JSON.stringify(JSON.parse(paramsJson)) : paramsJson;
  return `${head.slice(0, -'0}}'.length)}${params}}}\n`;
}

export function messageLine(message: ToRunner | FromRunner): string {
  return `${JSON.stringify(message)}\n`;
}

/** Joins chunks and returns complete lines. */
export class LineReader {
  #pieces: string[] = [];
  #length = 0;

  /** The longest line; more for a job whose result may be large. */
  lineMax: number;

  constructor(lineMax = LINE_MAX) {
    this.lineMax = lineMax;
  }

  /** The lines that this chunk completed; null when a line is too long. */
  push(chunk: string): string[] | null {
    const lines = chunk.split('\n');
    const rest = lines.pop() ?? '';
    const first = lines[0];
    if (first !== undefined) {
      lines[0] = this.#pieces.join('') + first;
      this.#pieces = [];
      this.#length = 0;
    }
    this.#pieces.push(rest);
    this.#length += rest.length;
    const max = this.lineMax;
    const tooLong = this.#length > max || lines.some((line) => line.length > max);
    return tooLong ? null : lines;
  }
}
