import type { BulkAction, BulkView } from './bulk.ts';

/** What was done to the jobs. */
export const BULK_DONE: Record<BulkAction, string> = {
  retry: 'queued again',
  cancel: 'cancelled',
  delete: 'deleted',
};

export function atLeast(matched: number, isExact: boolean): string {
  return `${matched.toLocaleString('en')}${isExact ? '' : '+'}`;
}

/** `500 of 2,000 jobs queued again, 3 skipped, 1 failed.` */
export function bulkSentence(bulk: BulkView): string {
  const { action, status, done, skipped, failed, matched, matchedIsExact } = bulk;
  const isWhole = done === matched && status === 'finished';
  const out = isWhole ? '' : ` of ${atLeast(matched, matchedIsExact)}`;
  const jobs = done === 1 && isWhole ? 'job' : 'jobs';
  const parts = [
    `${done.toLocaleString('en')}${out} ${jobs} ${BULK_DONE[action]}`,
    ...(skipped > 0 ? [`${skipped.toLocaleString('en')} skipped`] : []),
    ...(failed > 0 ? [`${failed.toLocaleString('en')} failed`] : []),
  ];
  const end = status === 'aborted' ? ' Stopped by a user.' : '';
  return `${parts.join(', ')}.${end}`;
}

/** What failed again after a retry: the same filter, after it was requested. Null if there is none. */
export function failedAgainFilter({
  action,
  filter,
  createdAt,
}: BulkView): Record<string, unknown> | null {
  if (action !== 'retry' || 'jobIds' in filter) return null;
  const { finishedBefore: _, ...rest } = filter;
  return { ...rest, status: ['failed'], finishedAfter: createdAt };
}

/** How the retried jobs have ended. `succeeded` is null where only failures can be counted. */
export interface RetryEnds {
  succeeded: number | null;
  failed: number;
  failedIsExact: boolean;
}

/** `3 succeeded, 5 failed again, 12 have not ended yet.` */
export function endsWords(done: number, { succeeded, failed, failedIsExact }: RetryEnds): string {
  const again = `${atLeast(failed, failedIsExact)} failed again`;
  if (succeeded === null)
    return failed === 0 ? 'None has failed again so far.' : `${again} so far.`;
  const open = Math.max(0, done - succeeded - failed);
  const rest =
    open === 0 ? [] : [`${open.toLocaleString('en')} ${open === 1 ? 'has' : 'have'} not ended yet`];
  return `${[`${succeeded.toLocaleString('en')} succeeded`, again, ...rest].join(', ')}.`;
}

/** Whether the numbers change no more. */
export function isSettled({ status, done }: BulkView, { succeeded, failed }: RetryEnds): boolean {
  return status !== 'running' && succeeded !== null && succeeded + failed >= done;
}
