import type { BulkFilter } from '../../../../src/client/bulk.ts';
import { BULK_STATES, type BulkAction, type BulkView } from '../../../../src/core/job/bulk.ts';
import type { JobState } from '../../../../src/core/job/job.ts';

/** What the words for a bulk action are: as a button, as a question, and once it is done. */
export const BULK_WORDS: Record<BulkAction, { verb: string; done: string; warning: string }> = {
  retry: {
    verb: 'Retry',
    done: 'retried',
    warning: 'Each gets one more attempt. Jobs whose state has changed are skipped.',
  },
  cancel: {
    verb: 'Cancel',
    done: 'cancelled',
    warning: 'What waits will not run; what runs is asked to stop. This can’t be undone.',
  },
  delete: {
    verb: 'Delete',
    done: 'deleted',
    warning: 'With their logs, events and results. This can’t be undone.',
  },
};

/** What can’t be undone is confirmed by typing how many it is about. */
export function mustType(action: BulkAction): boolean {
  return action !== 'retry';
}

/** What can be done to jobs in these states; in any state when none is named. */
export function actionsFor(states: readonly JobState[]): BulkAction[] {
  const all = ['retry', 'cancel', 'delete'] as const;
  return all.filter(
    (action) => states.length === 0 || states.some((one) => BULK_STATES[action].includes(one)),
  );
}

/**
 * The filter of a list as a bulk action takes it: only states that it can change. Null when nothing
 * is filtered at all, which would mean every job there is.
 */
export function bulkFilter(action: BulkAction, filter: BulkFilter): BulkFilter | null {
  const { status, ...rest } = filter;
  const said = Object.entries(rest).filter(([, value]) => value !== undefined);
  const states = [status ?? []].flat().filter((state) => BULK_STATES[action].includes(state));
  if (said.length === 0 && states.length === 0) return null;
  return { ...Object.fromEntries(said), ...(states.length > 0 && { status: states }) };
}

const FIELD_WORDS: Record<string, string> = {
  definitionKey: 'of',
  errorCode: 'code',
  fingerprint: 'error',
  q: 'with the text',
  createdAfter: 'made since',
  createdBefore: 'made before',
  finishedAfter: 'ended since',
  finishedBefore: 'ended before',
};

/** The filter in words, for who looks at it a week later. */
export function filterWords(filter: Record<string, unknown>): string {
  return Object.entries(filter)
    .filter(([, value]) => value !== null && value !== undefined && String(value) !== '')
    .map(([name, value]) => `${FIELD_WORDS[name] ?? name} ${[value].flat().join(' or ')}`)
    .join(', ');
}

export function atLeast(matched: number, isExact: boolean): string {
  return `${matched.toLocaleString('en')}${isExact ? '' : '+'}`;
}

/** How far it has come, in one sentence. */
export function bulkSentence(bulk: BulkView): string {
  const { action, status, done, skipped, failed, matched, matchedIsExact } = bulk;
  const parts = [
    `${done.toLocaleString('en')} of ${atLeast(matched, matchedIsExact)} ${BULK_WORDS[action].done}`,
    ...(skipped > 0 ? [`${skipped.toLocaleString('en')} had moved on`] : []),
    ...(failed > 0 ? [`${failed.toLocaleString('en')} could not be`] : []),
  ];
  const end = status === 'aborted' ? ' Stopped by a person.' : '';
  return `${parts.join(', ')}.${end}`;
}

/** From 0 to 1; null when nobody knows how many there are. */
export function bulkFraction(bulk: BulkView): number | null {
  if (bulk.status === 'finished') return 1;
  if (!bulk.matchedIsExact || bulk.matched === 0) return null;
  return Math.min(1, (bulk.done + bulk.skipped + bulk.failed) / bulk.matched);
}
