import type { DefinitionInfo } from './definition.ts';
import { DEFAULT_RETRY } from '../failure/backoff.ts';

/**
 * The hooks of a finished job are small jobs of their own, in a queue beside the one of their
 * definition. The settle statement makes them together with the outcome, so they run even if the
 * worker dies right after it, and whatever becomes of them, the outcome of the job stays.
 */

/** No definition can have such a key: keys begin with a letter or a digit. */
export const HOOK_PREFIX = '$hook:';

/** A failing hook is tried again a little; then it is told in the job's events, and that is all. */
export const HOOK_MAX_ATTEMPTS = 3;

export function hookKey(key: string): string {
  return `${HOOK_PREFIX}${key}`;
}

/** The key of the definition that a hook belongs to; null when the key is no hook's. */
export function hookOwner(key: string): string | null {
  return key.startsWith(HOOK_PREFIX) ? key.slice(HOOK_PREFIX.length) : null;
}

/** System queues are left out of lists unless somebody asks for them by name. */
export function isSystemKey(key: string): boolean {
  return key.startsWith('$');
}

/** The same code under the same isolation, with rules of its own. A command's hooks are functions. */
export function hookDefinition(info: DefinitionInfo): DefinitionInfo {
  return {
    ...info,
    key: hookKey(info.key),
    maxAttempts: HOOK_MAX_ATTEMPTS,
    retry: DEFAULT_RETRY,
    retryOn: null,
    hooks: [],
    command: null,
    paramsSchema: null,
  };
}

/** Whether a success of this definition makes a hook job, and so must be settled the long way. */
export function hasSuccessHooks({ hooks }: DefinitionInfo): boolean {
  return hooks.includes('onSuccess') || hooks.includes('onEnd');
}

/** Whether somebody has to serve the queue of its hooks. `onStart` runs with the job itself. */
export function hasTerminalHooks({ hooks }: DefinitionInfo): boolean {
  return hooks.some((hook) => hook !== 'onStart');
}
