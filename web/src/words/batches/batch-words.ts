import {
  type BatchCounts,
  type BatchView,
  MEMBER_STATES,
  type MemberState,
} from '../../../../src/core/batch/batch.ts';
import { shortId } from '../../../../src/core/job/short-id.ts';
import { duration } from '../../../../src/core/values/duration.ts';
import { plainText } from '../jobs/log-tail.ts';
import { textOf } from '../url-search.ts';

/** The name of a batch; without one, the end of its id. */
export function batchTitle({ id, name }: Pick<BatchView, 'id' | 'name'>): string {
  return name === null ? `Batch ${shortId(id)}` : plainText(name);
}

/** "Running: 7 of 10 jobs have ended, 2 of them failed." */
export function batchSentence(batch: BatchView): string {
  const { status, total, pending, failed, cancelled } = batch;
  switch (status) {
    case 'open':
      return `Open: it accepts jobs until it is closed. ${endedWords(batch)}.`;
    case 'running':
      if (pending === 0) return `Running: ${endedWords(batch)}; it is about to end.`;
      return `Running: ${endedWords(batch)}.`;
    case 'cancelling':
      return `Cancelling: ${notEnded(batch)}.`;
    case 'succeeded':
      if (total === 0) return 'Succeeded: it had no jobs.';
      return `Succeeded: ${total === 1 ? 'its job' : `all ${amount(total)} jobs`}${took(batch)}.`;
    case 'failed':
      return `Failed: ${badWords({ failed, cancelled })} of ${jobs(total)}${took(batch)}.`;
    case 'cancelled':
      // Its jobs were retried since.
      if (pending > 0) return `Cancelled: ${notEnded(batch)}.`;
      return `Cancelled: ${amount(batch.succeeded)} of ${jobs(total)} had succeeded.`;
  }
}

function notEnded({ pending, total }: BatchView): string {
  return `${amount(pending)} of ${jobs(total)} ${pending === 1 ? 'has' : 'have'} not ended`;
}

function endedWords({ total, pending, failed, cancelled }: BatchView): string {
  if (total === 0) return 'It has no jobs yet';
  const ended = total - pending;
  const words = `${amount(ended)} of ${jobs(total)} ${ended === 1 ? 'has' : 'have'} ended`;
  return failed + cancelled === 0 ? words : `${words}, ${badWords({ failed, cancelled })}`;
}

/** "2 failed, 1 cancelled". */
function badWords({ failed, cancelled }: { failed: number; cancelled: number }): string {
  const counts = [
    ...(failed > 0 ? [`${amount(failed)} failed`] : []),
    ...(cancelled > 0 ? [`${amount(cancelled)} cancelled`] : []),
  ];
  return counts.length > 0 ? counts.join(', ') : '0 failed';
}

/** The time from the first moment to the end. */
function took({ createdAt, endedAt }: BatchView): string {
  if (endedAt === null) return '';
  return ` in ${duration(Math.max(0, Date.parse(endedAt) - Date.parse(createdAt)))}`;
}

export interface BarPart {
  state: MemberState;
  jobs: number;
  /** Of the width of the bar. */
  percent: number;
}

/** What failed must be seen, however few they are. */
const PERCENT_MIN = 1.5;

/** The parts of the progress bar: what has ended first. Empty parts are left out. */
export function barParts(counts: BatchCounts): BarPart[] {
  const parts = (['succeeded', 'failed', 'cancelled', 'pending'] as const)
    .map((state) => ({ state, jobs: counts[state] }))
    .filter((part) => part.jobs > 0)
    .map((part) => ({
      ...part,
      percent: Math.max(PERCENT_MIN, (100 * part.jobs) / counts.total),
    }));
  const sum = parts.reduce((all, { percent }) => all + percent, 0);
  return parts.map((part) => ({ ...part, percent: (100 * part.percent) / sum }));
}

/** "7 succeeded · 2 failed · 1 pending"; without the states that no job has. */
export function countWords(counts: BatchCounts): string {
  const parts = barParts(counts).map((part) => `${amount(part.jobs)} ${part.state}`);
  return parts.length > 0 ? parts.join(' · ') : 'no jobs';
}

/** "Retry 3 jobs"; null when there is nothing to retry. */
export function retryLabel({ failed, cancelled }: BatchCounts): string | null {
  const bad = failed + cancelled;
  return bad === 0 ? null : `Retry ${jobs(bad)}`;
}

/** What a cancel does, for the dialog. */
export function cancelBatchWords({ pending, onComplete, onSuccess }: BatchView): string {
  const its =
    pending === 0
      ? 'All its jobs have ended.'
      : pending === 1
        ? 'Its job that has not ended is cancelled; if it runs, it is asked to stop.'
        : `Its ${amount(pending)} jobs that have not ended are cancelled; running ones are asked to stop.`;
  const then = [
    ...(onComplete === null ? [] : [' onComplete still runs.']),
    ...(onSuccess === null ? [] : [' onSuccess does not run.']),
  ];
  return `${its}${then.join('')}`;
}

export function mayCancelBatch({ status, pending }: BatchView): boolean {
  if (status === 'cancelling') return false;
  return status === 'open' || status === 'running' || pending > 0;
}

/** The search of the page of a batch. */
export interface BatchSearch {
  state?: MemberState;
  cursor?: string;
}

export function batchSearch(search: Record<string, unknown>): BatchSearch {
  const state = MEMBER_STATES.find((one) => one === textOf(search, 'state'));
  const cursor = textOf(search, 'cursor');
  return { ...(state && { state }), ...(cursor !== undefined && { cursor }) };
}

function jobs(number: number): string {
  return number === 1 ? '1 job' : `${amount(number)} jobs`;
}

export function amount(number: number): string {
  return number.toLocaleString('en');
}
