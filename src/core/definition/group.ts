import { DefinitionError } from './definition.ts';

/** How many queued jobs of a definition run in one call, and how long the first one waits for more. */
export interface GroupRule {
  size: number;
  waitMs: number;
}

export const GROUP_SIZE_MAX = 1_000;
export const GROUP_WAIT_MS_MAX = 60_000;
const DEFAULT_WAIT_MS = 100;

/** Checks `size` and `waitMs` of `defineBatchJob`, and `group` of a manifest. */
export function groupRule(
  key: string,
  size: unknown,
  waitMs: unknown = DEFAULT_WAIT_MS,
): GroupRule {
  return {
    size: whole(key, 'size', size, 1, GROUP_SIZE_MAX),
    waitMs: whole(key, 'waitMs', waitMs, 0, GROUP_WAIT_MS_MAX),
  };
}

/** What keeps groups below their size on a worker with so many slots; null when nothing does. */
export function groupProblem(
  group: Pick<GroupRule, 'size'> | null | undefined,
  slots: number,
  worker = 'this worker',
): string | null {
  if (!group || group.size <= slots) return null;
  const [have, most] = slots === 1 ? ['1 slot', '1 job'] : [`${slots} slots`, `${slots} jobs`];
  return `size is ${group.size}, ${worker} has ${have}: groups have at most ${most}; set --concurrency ${group.size}`;
}

function whole(key: string, name: string, value: unknown, min: number, max: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) {
    return value;
  }
  throw new DefinitionError(`${key}: ${name} must be a whole number from ${min} to ${max}`);
}
