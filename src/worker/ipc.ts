import type { DefinitionInfo } from '../core/definition/definition.ts';
import { YEAR_MS } from '../core/values/duration.ts';
import type { JobError } from '../core/job/job.ts';
import type { Outcome } from '../core/job/lifecycle.ts';
import type { HookName, Level } from '../core/views/history.ts';

/**
 * What a worker and its runner say to each other: one JSON document per line on a socket that the
 * runner has as file descriptor 3. Every message about a job carries its claim number. Two jobs may
 * have the same one, so what is left of an ended job is not heard at all: its session says nothing
 * more, and its execution answers nothing. This file knows no process and no socket; both sides use it.
 */

export type ToRunner =
  | { type: 'run'; job: RunCommand }
  | { type: 'abort'; claim: number; reason: AbortReason }
  /** The answer to a `save`; the problem is null when it is durable. */
  | { type: 'saved'; claim: number; seq: number; problem: string | null }
  /** Asks a runner without a job whether it really has none. */
  | { type: 'ask-idle' };

export type AbortReason = 'cancel' | 'timeout' | 'drain';

export interface RunCommand {
  id: string;
  claim: number;
  attempt: number;
  maxAttempts: number;
  key: string;
  version: number;
  params: unknown;
  /** What earlier attempts stored; absent when there were none. */
  saved?: Saved | undefined;
  /** Where in a trace it runs. */
  traceparent?: string | undefined;
}

export interface Saved {
  checkpoint?: unknown;
  steps: Record<string, unknown>;
}

export type FromRunner =
  | { type: 'ready'; definitions: DefinitionInfo[]; problems: string[] }
  /** The answer to `ask-idle`. */
  | { type: 'idle'; busy: boolean }
  | { type: 'progress'; claim: number; fraction: number; message: string | null }
  | { type: 'log'; claim: number; level: Level; message: string }
  | { type: 'event'; claim: number; name: string; payloadJson: string }
  /** A hook that runs beside the job failed, which is told and changes nothing. */
  | { type: 'hook-failed'; claim: number; hook: HookName; error: JobError }
  /** A step's result, or the checkpoint when `step` is null. */
  | { type: 'save'; claim: number; seq: number; step: string | null; valueJson: string }
  /** A program has ended when it has an outcome; the exit code is the worker's to know, not to hear. */
  | ({ type: 'outcome'; claim: number; outcome: Outcome; exitCode?: number | null } & Measured);

/** What the runner measured of itself; null where it cannot. */
export interface Measured {
  cpuMs: number | null;
  peakRssBytes: number | null;
  /**
   * Whether the runner is not to be used again: the job started processes, of which some may be left,
   * went to another folder, or let an error escape.
   */
  spent: boolean;
}

export const STEP_NAME_MAX = 200;
export const EVENT_NAME_MAX = 100;
export const EVENT_PAYLOAD_MAX = 65_536;
/** Of a word about progress, and of an error. */
export const MESSAGE_MAX = 8_192;
export const SNOOZE_MS_MAX = YEAR_MS;
/** Of a checkpoint, or of what a step returns. */
export const SAVED_MAX_BYTES = 1_048_576;

/** In characters. Longer lines end the connection: no honest message comes near it. */
export const LINE_MAX = 16 * 1_048_576;

/** The params are JSON text already; they are not parsed and written again on their way. */
export function runLine(job: Omit<RunCommand, 'params'>, paramsJson: string): string {
  const head = JSON.stringify({ type: 'run', job: { ...job, params: 0 } });
  // Only text that came by plain SQL can have line breaks, and they would end the message.
  const params = paramsJson.includes('\n') ? JSON.stringify(JSON.parse(paramsJson)) : paramsJson;
  return `${head.slice(0, -'0}}'.length)}${params}}}\n`;
}

export function messageLine(message: ToRunner | FromRunner): string {
  return `${JSON.stringify(message)}\n`;
}

/** Puts chunks together and hands out whole lines. */
export class LineReader {
  #pieces: string[] = [];
  #length = 0;

  /** The whole lines that this chunk completed; null when a line is longer than it may be. */
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
    const tooLong = this.#length > LINE_MAX || lines.some((line) => line.length > LINE_MAX);
    return tooLong ? null : lines;
  }
}
