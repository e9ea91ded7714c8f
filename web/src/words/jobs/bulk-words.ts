import type { BulkFilter } from '../../../../src/client/bulk.ts';
import { BULK_STATES, type BulkAction, type BulkView } from '../../../../src/core/job/bulk.ts';
import type { JobState } from '../../../../src/core/job/job.ts';

/** Texts of a bulk action: button, past participle, warning. */
export const BULK_WORDS: Record<BulkAction, { verb: string; done: string; warning: string }> = {
  retry: {
    verb: 'Retry',
    done: 'retried',
    warning: 'Each gets one more attempt. Jobs whose state has changed are skipped.',
  },
  cancel: {
    verb: 'Cancel',
    done: 'cancelled',
    warning: 'Waiting jobs will not run; running jobs are asked to stop. This can’t be undone.',
  },
  delete: {
    verb: 'Delete',
    done: 'deleted',
    warning: 'Logs, events and results are deleted too. This can’t be undone.',
  },
};

/** Irreversible actions are confirmed by typing the number of jobs. */
export function mustType(action: BulkAction): boolean {
  return action !== 'retry';
}

/** Actions that apply to jobs in these states; all if none is given. */
export function actionsFor(states: readonly JobState[]): BulkAction[] {
  const all = ['retry', 'cancel', 'delete'] as const;
  return all.filter(
    (action) => states.length === 0 || states.some((one) => BULK_STATES[action].includes(one)),
  );
}

/**
 * The filter restricted to states that the action can change. Null without any filter, which would
 * match every job.
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
  q: 'containing',
  createdAfter: 'created since',
  createdBefore: 'created before',
  finishedAfter: 'finished since',
  finishedBefore: 'finished before',
};

export function filterWords(filter: Record<string, unknown>): string {
  return Object.entries(filter)
    .filter(([, value]) => value !== null && value !== undefined && String(value) !== '')
    .map(([name, value]) => `${FIELD_WORDS[name] ?? name} ${[value].flat().join(' or ')}`)
    .join(', ');
}

export function atLeast(matched: number, isExact: boolean): string {
  return `${matched.toLocaleString('en')}${isExact ? '' : '+'}`;
}

export function bulkSentence(bulk: BulkView): string {
  const { action, status, done, skipped, failed, matched, matchedIsExact } = bulk;
  const parts = [
    `${done.toLocaleString('en')} of ${atLeast(matched, matchedIsExact)} ${BULK_WORDS[action].done}`,
    ...(skipped > 0 ? [`${skipped.toLocaleString('en')} skipped`] : []),
    ...(failed > 0 ? [`${failed.toLocaleString('en')} failed`] : []),
  ];
  const end = status === 'aborted' ? ' Stopped by a user.' : '';
  return `${parts.join(', ')}.${end}`;
}

/** From 0 to 1; null if the total is unknown. */
export function bulkFraction(bulk: BulkView): number | null {
  if (bulk.status === 'finished') return 1;
  if (!bulk.matchedIsExact || bulk.matched === 0) return null;
  return Math.min(1, (bulk.done + bulk.skipped + bulk.failed) / bulk.matched);
}
