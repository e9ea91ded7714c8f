import type { DefinitionInfo } from './definition.ts';
import { DEFAULT_RETRY } from '../failure/backoff.ts';

/**
 * The hooks of a finished job are jobs of their own, in a separate queue. The settle statement
 * makes them together with the outcome, so they run even if the worker dies right after it. They
 * never change the outcome of the job.
 */

/** Reserved: definition keys begin with a letter or a digit. */
export const HOOK_PREFIX = '$hook:';

/** A failing hook is retried twice; then the failure is an event of the job. */
export const HOOK_MAX_ATTEMPTS = 3;

export function hookKey(key: string): string {
  return `${HOOK_PREFIX}${key}`;
}

/** The definition that a hook belongs to; null when the key is not that of a hook. */
export function hookOwner(key: string): string | null {
  return key.startsWith(HOOK_PREFIX) ? key.slice(HOOK_PREFIX.length) : null;
}

/** System queues are listed only when requested by name. */
export function isSystemKey(key: string): boolean {
  return key.startsWith('$');
}

/** The same code and isolation with rules of its own. The hooks of a command are functions. */
export function hookDefinition(info: DefinitionInfo): DefinitionInfo {
  return {
    ...info,
    key: hookKey(info.key),
    maxAttempts: HOOK_MAX_ATTEMPTS,
    retry: DEFAULT_RETRY,
    retryOn: null,
    hooks: [],
    command: null,
    group: null,
    paramsSchema: null,
  };
}

/** Whether a success makes a hook job, and so needs the general settle statement. */
export function hasSuccessHooks({ hooks }: DefinitionInfo): boolean {
  return hooks.includes('onSuccess') || hooks.includes('onEnd');
}

/** Whether a worker must serve the queue of its hooks. `onStart` runs with the job itself. */
export function hasTerminalHooks({ hooks }: DefinitionInfo): boolean {
  return hooks.some((hook) => hook !== 'onStart');
}
