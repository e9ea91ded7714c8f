import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { BulkFilter, BulkPreview } from '../../../../src/client/bulk.ts';
import type { BulkAction, BulkView } from '../../../../src/core/job/bulk.ts';
import { newestVersions } from '../../../../src/core/definition/owners.ts';
import { call } from '../../api/call.ts';
import { bulkPreviewQuery } from '../../api/failure-queries.ts';
import { definitionsQuery } from '../../api/queries.ts';
import { changeComplaints, errorText } from '../../api/problem-error.ts';
import { useChange } from '../../api/use-change.ts';
import {
  atLeast,
  BULK_WORDS,
  errorsOf,
  filterWords,
  knownJobs,
  mustType,
  sameCodeWords,
} from '../../words/jobs/bulk-words.ts';
import { shortId } from '../../../../src/core/job/short-id.ts';
import { remark, summary } from '../../words/jobs/job-words.ts';
import { Complaint, Dialog, useModal } from '../dialog.tsx';
import { lastRetry } from './bulk-result.tsx';
import { BulkProgress } from './bulk-progress.tsx';

/** A bulk action: preview, confirmation, progress. Closing the dialog does not stop the action. */
export function BulkDialog({
  action,
  filter,
  what,
  onClose,
}: {
  action: BulkAction;
  filter: BulkFilter;
  /** Which jobs, as shown in the title. */
  what: string;
  onClose: () => void;
}) {
  const ref = useModal();
  const [started, setStarted] = useState<BulkView | null>(null);
  const asking = { ...bulkPreviewQuery(action, filter), enabled: started === null };
  const { data: preview, error } = useQuery(asking);
  const start = useChange(
    async (ratePerSecond: number | undefined) =>
      await call<BulkView>('POST', '/v1/bulk', { body: { action, filter, ratePerSecond } }),
    (bulk) => {
      setStarted(bulk);
      const jobIds = preview ? knownJobs(filter, preview) : [];
      if (action === 'retry') lastRetry.set({ bulk, what, jobIds });
      return null;
    },
    { inForm: 'all' },
  );
  const { verb } = BULK_WORDS[action];
  const close = () => ref.current?.close();
  return (
    <Dialog
      modal={ref}
      title={`${verb} ${what}`}
      running={start.isPending}
      canLose={started === null}
      onClose={onClose}
    >
      {started ? (
        <BulkProgress bulk={started} onClose={close} />
      ) : preview ? (
        <Confirm
          action={action}
          filter={filter}
          preview={preview}
          running={start.isPending}
          wrong={start.error ? changeComplaints(start.error) : []}
          onStart={(ratePerSecond) => start.mutate(ratePerSecond)}
          onClose={close}
        />
      ) : (
        <>
          <p className="soft">{error ? errorText(error) : 'Counting…'}</p>
          <div className="dialog-actions">
            <button type="button" onClick={close}>
              Cancel
            </button>
          </div>
        </>
      )}
    </Dialog>
  );
}

function Confirm({
  action,
  filter,
  preview,
  running,
  wrong,
  onStart,
  onClose,
}: {
  action: BulkAction;
  filter: BulkFilter;
  preview: BulkPreview;
  running: boolean;
  /** Why it could not be started. */
  wrong: readonly string[];
  onStart: (ratePerSecond: number | undefined) => void;
  onClose: () => void;
}) {
  const { matched, matchedIsExact } = preview;
  const { verb, warning } = BULK_WORDS[action];
  const [typed, setTyped] = useState('');
  const [rate, setRate] = useState('');
  const confirmed = !mustType(action) || typed.replaceAll(/[,\s]/g, '') === String(matched);
  const submit = () => {
    if (confirmed && matched > 0 && !running) onStart(rate === '' ? undefined : Number(rate));
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <p>
        <strong>
          {atLeast(matched, matchedIsExact)} {matched === 1 ? 'job matches' : 'jobs match'}
        </strong>{' '}
        <span className="soft">
          ({filterWords({ ...filter }, errorsOf(filter, preview.sample))}).
        </span>
      </p>
      <p className="soft">{warning}</p>
      <Sample preview={preview} />
      {action === 'retry' && <SameCode preview={preview} />}
      {action === 'retry' && (
        <label className="field">
          <span>Max jobs per second</span>
          <input
            inputMode="decimal"
            value={rate}
            placeholder="no limit"
            onChange={(event) => setRate(event.target.value)}
          />
        </label>
      )}
      {mustType(action) && matched > 0 && (
        <label className="field">
          <span>Type {matched} to confirm</span>
          <input
            inputMode="numeric"
            autoComplete="off"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        </label>
      )}
      <Complaint wrong={wrong} />
      <div className="dialog-actions">
        <button type="button" disabled={running} onClick={onClose}>
          Cancel
        </button>
        <button
          type="submit"
          className={action === 'retry' ? 'primary' : 'danger'}
          disabled={!confirmed || matched === 0 || running}
        >
          {verb} {matched === 1 ? '1 job' : `${atLeast(matched, matchedIsExact)} jobs`}
        </button>
      </div>
    </form>
  );
}

function SameCode({ preview: { sample } }: { preview: BulkPreview }) {
  const { data: definitions = [] } = useQuery(definitionsQuery());
  const newest = new Map(
    newestVersions([...definitions]).map(({ key, version }) => [key, version] as const),
  );
  const words = sameCodeWords(sample, newest);
  return words === null ? null : <p className="notice warn">{words}</p>;
}

function Sample({ preview: { sample, matched } }: { preview: BulkPreview }) {
  if (sample.length === 0) return null;
  return (
    <ul className="sample" aria-label={matched > sample.length ? 'Sample' : 'All jobs'}>
      {sample.map((job) => (
        <li key={job.jobId}>
          <strong>{job.definitionKey}</strong> <span className="id">{shortId(job.jobId)}</span>{' '}
          <span className="soft">{remark(job) || summary(job)}</span>
        </li>
      ))}
    </ul>
  );
}
