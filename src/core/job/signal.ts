import { CHILDREN_STEP, isWaitChildrenStep } from '../dependency/children.ts';
import { PARENTS_STEP } from '../dependency/dependency.ts';
import { YEAR_MS } from '../values/duration.ts';
import { isLinkEndStep, isLinkStep } from '../signal/signal-link.ts';

/**
 * Durable waits. A job that waits for a signal ends its attempt and is `suspended`; the signal makes
 * it run again. Signals, waits and sleeps are stored with the steps of the job, so an attempt that
 * resumes gets them with its steps, and they are deleted with the job.
 */

export const SIGNAL_NAME_MAX = 100;
/** The longest wait, and the wait without a timeout. */
export const WAIT_MS_MAX = YEAR_MS;

const SIGNAL = 'signal:';
const WAIT = 'wait:';
const TIMEOUT = 'timeout:';
const SLEEP = 'sleep:';
const REJECT = 'reject:';

/** The step that holds the payload of a signal. SQL has the prefix, too (`store/claim/resume`). */
export const signalStep = (name: string) => `${SIGNAL}${name}`;
/** The step that holds the `Wait` for a signal. */
export const waitStep = (name: string) => `${WAIT}${name}`;
/** The step that says that a wait timed out (`store/claim/mark-timeouts`). */
export const timeoutStep = (name: string) => `${TIMEOUT}${name}`;
/** The step that holds how long a sleep is, in milliseconds. It begins when the step is stored. */
export const sleepStep = (name: string) => `${SLEEP}${name}`;

/**
 * What a runner stores to discard a signal whose payload does not fit: the store deletes the signal,
 * and keeps the reason under this name and the number of the claim.
 */
export const rejectStep = (name: string) => `${REJECT}${name}`;

/** The signal that such a step discards; null for other steps. */
export function rejectedSignal(step: string): string | null {
  return step.startsWith(REJECT) ? step.slice(REJECT.length) : null;
}

/** What a job stored when it began to wait. */
export interface Wait {
  /** From when the database stored it. */
  timeoutMs: number;
  /** The JSON Schema of the payload; null when there is none. */
  schema: unknown;
}

export function isWaitStep(name: string): boolean {
  return name.startsWith(WAIT);
}

/** The step of a sleep, or of a wait with a timeout: its age says how much of that is over. */
export function isTimedStep(name: string): boolean {
  return isSleepStep(name) || isWaitStep(name);
}

export function isSleepStep(name: string): boolean {
  return name.startsWith(SLEEP);
}

/** Steps of a job cannot have such names. */
export function isReservedStep(name: string): boolean {
  if (isServerStep(name) || isLinkStep(name) || isWaitChildrenStep(name)) return true;
  return [WAIT, SLEEP, REJECT].some((prefix) => name.startsWith(prefix));
}

/** Only the server stores such steps: with them, a worker could forge a decision. */
export function isServerStep(name: string): boolean {
  const prefixes = [SIGNAL, TIMEOUT, PARENTS_STEP, CHILDREN_STEP];
  return isLinkEndStep(name) || prefixes.some((prefix) => name.startsWith(prefix));
}

/** The name stands in URLs and in the name of a step. */
export function isSignalName(name: unknown): name is string {
  return (
    typeof name === 'string' && /^[A-Za-z0-9_.-]+$/.test(name) && name.length <= SIGNAL_NAME_MAX
  );
}

export const SIGNAL_NAME_RULE = `1 to ${SIGNAL_NAME_MAX} letters, digits, dots, hyphens or underscores`;
