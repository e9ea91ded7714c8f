import type { z } from 'zod';
import type { Longshore } from '../client/index.ts';
import type { Scope } from '../core/access/scope.ts';
import type { Facts } from './text/facts.ts';

/** What a call of a tool works with. */
export interface Workplace {
  client: Longshore;
  now: () => Date;
  /** Aborts when the caller no longer waits for the answer. */
  signal: AbortSignal;
  /** Tells the caller how far a job is that it waits for. */
  onProgress: (fraction: number, message: string) => void;
}

/** `reads` changes nothing; `ends` stops or replaces something. */
export type Effect = 'reads' | 'adds' | 'ends';

export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  name: string;
  title: string;
  description: string;
  /** What the key of the caller needs. */
  scope: Scope;
  effect: Effect;
  /** Whether a second call with the same arguments changes nothing more. */
  idempotent: boolean;
  input: Input;
  run: (args: z.infer<Input>, at: Workplace) => Promise<Facts>;
}

/** Checks that the arguments of `run` fit `input`, then forgets their type. */
export function tool<Input extends z.ZodObject>(one: Tool<Input>): Tool {
  return one;
}

/** A call that cannot succeed as it is; the message says what to do instead. */
export class ToolError extends Error {
  override name = 'ToolError';
  /** More than the message, if any. */
  facts: Facts = {};
}
