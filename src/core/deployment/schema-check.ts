import type { DefinitionInfo } from '../definition/definition.ts';
import type { DefinitionChange } from './difference.ts';

/** How many waiting jobs, and how many schedules, are checked for one deployment. */
export const CHECKED_MAX = 1_000;
/** How many of those that do not fit are named for each definition. */
export const MISFITS_SHOWN = 5;

/** A waiting job or a schedule whose params do not fit the new schema. */
export interface Misfit {
  kind: 'job' | 'schedule';
  id: string;
  reason: string;
}

/** What the new schema of a definition means for its waiting jobs and its schedules. */
export interface SchemaCheck {
  key: string;
  jobsChecked: number;
  /** They would fail with PAYLOAD_INVALID. */
  jobsRejected: number;
  schedulesChecked: number;
  schedulesRejected: number;
  /** Encrypted with a key that the server does not have. */
  unreadable: number;
  /** More wait than were checked. */
  isPartial: boolean;
  /** The first that do not fit; of the own tenant only. */
  misfits: Misfit[];
}

/** The definitions whose new schema may reject what waits. */
export function withNewSchema(
  changes: readonly DefinitionChange[],
  after: readonly DefinitionInfo[],
): DefinitionInfo[] {
  const keys = changes
    .filter(({ change, fields }) => change === 'added' || fields.includes('params'))
    .map(({ key }) => key);
  return after.filter(({ key, paramsSchema }) => keys.includes(key) && paramsSchema !== null);
}

export function isRejecting({ jobsRejected, schedulesRejected }: SchemaCheck): boolean {
  return jobsRejected + schedulesRejected > 0;
}

/** What people should know of the new schema; empty if everything fits and was checked. */
export function schemaSentences(check: SchemaCheck): string[] {
  const { jobsChecked, jobsRejected, schedulesChecked, schedulesRejected, unreadable } = check;
  const parts = [
    ...(jobsRejected > 0 ? [`${jobsRejected} of ${jobsChecked} waiting jobs`] : []),
    ...(schedulesRejected > 0 ? [`${schedulesRejected} of ${schedulesChecked} schedules`] : []),
  ];
  return [
    ...(parts.length > 0 ? [`the new schema would reject ${parts.join(' and ')}`] : []),
    ...(unreadable > 0 ? [`${unreadable} could not be decrypted, and were not checked`] : []),
    ...(check.isPartial ? ['more wait than were checked'] : []),
  ];
}
