import type { BulkFilter, BulkPreview } from '../../../../src/client/bulk.ts';
import { BULK_STATES, type BulkAction, type BulkView } from '../../../../src/core/job/bulk.ts';
import { BULK_DONE } from '../../../../src/core/job/bulk-words.ts';
import type { JobState, JobView } from '../../../../src/core/job/job.ts';
import { inZone } from '../zone.ts';
import { remark } from './job-words.ts';
import { plainText } from './log-tail.ts';

export {
  atLeast,
  bulkSentence,
  endsWords,
  failedAgainFilter,
  isSettled,
  type RetryEnds,
} from '../../../../src/core/job/bulk-words.ts';

/** Texts of a bulk action: button, past participle, warning. */
export const BULK_WORDS: Record<BulkAction, { verb: string; done: string; warning: string }> = {
  retry: {
    verb: 'Retry',
    done: BULK_DONE.retry,
    warning: 'Each gets one more attempt. Jobs whose state has changed are skipped.',
  },
  cancel: {
    verb: 'Cancel',
    done: BULK_DONE.cancel,
    warning: 'Waiting jobs will not run; running jobs are asked to stop. You can retry them later.',
  },
  delete: {
    verb: 'Delete',
    done: BULK_DONE.delete,
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

/** The jobs of a bulk action, if all are known: they were selected, or the preview showed all. */
export function knownJobs(filter: BulkFilter, preview: BulkPreview): string[] | null {
  if (filter.jobIds !== undefined) return [...filter.jobIds];
  const { sample, matched, matchedIsExact } = preview;
  const isWhole = matchedIsExact && sample.length === matched;
  return isWhole ? sample.map(({ jobId }) => jobId) : null;
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
