import type { BulkFilter, BulkPreview } from '../../../../src/client/bulk.ts';
import { BULK_STATES, type BulkAction, type BulkView } from '../../../../src/core/job/bulk.ts';
import type { JobState, JobView } from '../../../../src/core/job/job.ts';
import { inZone } from '../zone.ts';
import { remark } from './job-words.ts';
import { plainText } from './log-tail.ts';

/** Texts of a bulk action: button, past participle, warning. */
export const BULK_WORDS: Record<BulkAction, { verb: string; done: string; warning: string }> = {
  retry: {
    verb: 'Retry',
    done: 'queued again',
    warning: 'Each gets one more attempt. Jobs whose state has changed are skipped.',
  },
  cancel: {
    verb: 'Cancel',
    done: 'cancelled',
    warning: 'Waiting jobs will not run; running jobs are asked to stop. You can retry them later.',
  },
  delete: {
    verb: 'Delete',
    done: 'deleted',
    warning: 'Logs, events and results are deleted too. This can’t be undone.',
  },
};

/** Actions that end jobs are confirmed by typing the number of jobs. */
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
  q: 'matching',
  createdAfter: 'created since',
  createdBefore: 'created before',
  finishedAfter: 'finished since',
  finishedBefore: 'finished before',
};

/** `errors` has the text of known fingerprints. */
export function filterWords(
  filter: Record<string, unknown>,
  errors: ReadonlyMap<string, string> = new Map(),
): string {
  const { jobIds } = filter;
  if (Array.isArray(jobIds)) return `${jobIds.length} selected`;
  return Object.entries(filter)
    .filter(([, value]) => value !== null && value !== undefined && String(value) !== '')
    .map(
      ([name, value]) =>
        `${FIELD_WORDS[name] ?? name} ${[value]
          .flat()
          .map((one) => errors.get(String(one)) ?? valueWords(one))
          .join(' or ')}`,
    )
    .join(', ');
}

/** The text of the error that a filter names by its fingerprint: all its jobs have the same. */
export function errorsOf(
  { fingerprint }: Pick<BulkFilter, 'fingerprint'>,
  sample: readonly JobView[],
): ReadonlyMap<string, string> {
  const failed = sample.find(({ error, status }) => error !== null && status === 'failed');
  if (fingerprint === undefined || failed === undefined) return new Map();
  return new Map([[fingerprint, plainText(remark(failed))]]);
}

const MOMENT = inZone({ dateStyle: 'medium', timeStyle: 'short' });
const FINGERPRINT_SHOWN = 8;

/** Times are in the zone of the dashboard; of a fingerprint, the beginning is enough. */
function valueWords(value: unknown): string {
  const text = String(value);
  if (/^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-][\d:]+)$/.test(text)) return MOMENT(new Date(text));
  return /^[0-9a-f]{12,}$/.test(text) ? `${text.slice(0, FINGERPRINT_SHOWN)}…` : text;
}

export function atLeast(matched: number, isExact: boolean): string {
  return `${matched.toLocaleString('en')}${isExact ? '' : '+'}`;
}

export function bulkSentence(bulk: BulkView): string {
  const { action, status, done, skipped, failed, matched, matchedIsExact } = bulk;
  const isWhole = done === matched && status === 'finished';
  const out = isWhole ? '' : ` of ${atLeast(matched, matchedIsExact)}`;
  const jobs = done === 1 && isWhole ? 'job' : 'jobs';
  const parts = [
    `${done.toLocaleString('en')}${out} ${jobs} ${BULK_WORDS[action].done}`,
    ...(skipped > 0 ? [`${skipped.toLocaleString('en')} skipped`] : []),
    ...(failed > 0 ? [`${failed.toLocaleString('en')} failed`] : []),
  ];
  const end = status === 'aborted' ? ' Stopped by a user.' : '';
  return `${parts.join(', ')}.${end}`;
}

/** What failed again after a retry: the same filter, after it was requested. Null if there is none. */
export function failedAgainFilter({ action, filter, createdAt }: BulkView): BulkFilter | null {
  if (action !== 'retry' || 'jobIds' in filter) return null;
  const { finishedBefore: _, ...rest } = filter as BulkFilter;
  return { ...rest, status: ['failed'], finishedAfter: createdAt };
}

/** The jobs of a bulk action, if all are known: they were selected, or the preview showed all. */
export function knownJobs(filter: BulkFilter, preview: BulkPreview): string[] | null {
  if (filter.jobIds !== undefined) return [...filter.jobIds];
  const { sample, matched, matchedIsExact } = preview;
  const isWhole = matchedIsExact && sample.length === matched;
  return isWhole ? sample.map(({ jobId }) => jobId) : null;
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

/** Whether a retry runs the same code. */
export function sameCodeWords(
  jobs: readonly Pick<JobView, 'definitionKey' | 'definitionVersion'>[],
  newest: ReadonlyMap<string, number>,
): string | null {
  const versions = new Set(jobs.map((job) => `${job.definitionKey} ${job.definitionVersion}`));
  const isSame = jobs.every((job) => newest.get(job.definitionKey) === job.definitionVersion);
  const [first] = jobs;
  if (!first || !isSame) return null;
  const which = versions.size === 1 ? ` (version ${first.definitionVersion})` : '';
  return `No newer version was published since they failed${which}.`;
}

/** From 0 to 1; null if the total is unknown. */
export function bulkFraction(bulk: BulkView): number | null {
  if (bulk.status === 'finished') return 1;
  if (!bulk.matchedIsExact || bulk.matched === 0) return null;
  return Math.min(1, (bulk.done + bulk.skipped + bulk.failed) / bulk.matched);
}
