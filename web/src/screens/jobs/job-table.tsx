import { Link } from '@tanstack/react-router';
import type { JobView } from '../../../../src/core/job/job.ts';
import { Moment } from '../../parts/moment.tsx';
import { Rows } from '../../parts/rows.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { useNow } from '../../runtime/clock.ts';
import { type Selection, toggled, toggledAll } from '../../words/search/selection.ts';
import { shortId } from '../../../../src/core/job/short-id.ts';
import { remark, summary, timing } from '../../words/jobs/job-words.ts';

/** Jobs as rows. The link covers the whole row. */
export function JobTable({
  jobs,
  caption,
  alike = false,
  ended = false,
  selected,
  onSelect,
}: {
  jobs: readonly JobView[];
  caption: string;
  /** All jobs have the same definition, so rows show ids instead. */
  alike?: boolean;
  /** All jobs have failed, so rows show when. */
  ended?: boolean;
  /** Rows have checkboxes if there is a selection. */
  selected?: Selection;
  onSelect?: (selection: Selection) => void;
}) {
  const ids = jobs.map(({ jobId }) => jobId);
  return (
    <Rows
      caption={caption}
      rows={jobs}
      keyOf={({ jobId }) => jobId}
      columns={[
        selected !== undefined &&
          onSelect !== undefined && {
            title: 'Select',
            kind: 'pick',
            titled: 'in-head',
            head: (
              <Pick
                label="Select all jobs of this page"
                checked={ids.length > 0 && ids.every((id) => selected.ids.has(id))}
                onPick={() => onSelect(toggledAll(selected, ids))}
              />
            ),
            cell: ({ jobId, definitionKey }) => (
              <Pick
                label={`Select ${definitionKey} ${shortId(jobId)}`}
                checked={selected.ids.has(jobId)}
                onPick={(range) => onSelect(toggled(selected, ids, jobId, range))}
              />
            ),
          },
        { title: 'State', titled: 'in-head', cell: ({ status }) => <StateBadge state={status} /> },
        {
          title: 'Job',
          kind: 'wide',
          titled: 'in-head',
          cell: (job) => <Name job={job} alike={alike} />,
        },
        {
          title: 'Attempt',
          kind: 'number',
          cell: ({ attempts, maxAttempts }) => `${attempts}/${maxAttempts}`,
        },
        { title: 'Time', kind: 'short', titled: 'in-head', cell: (job) => <Timing job={job} /> },
        ended
          ? {
              title: 'Failed',
              kind: 'short',
              cell: ({ finishedAt }) => <Moment at={finishedAt} />,
            }
          : {
              title: 'Created',
              kind: 'short',
              spare: alike,
              cell: ({ createdAt }) => <Moment at={createdAt} />,
            },
        !alike && {
          title: 'Owner',
          kind: 'short',
          cell: ({ owner }) => owner ?? <span className="soft">–</span>,
        },
        {
          title: 'Details',
          kind: 'wide',
          titled: 'in-head',
          cell: (job) => <Remark job={job} />,
        },
      ]}
    />
  );
}

/** Shift selects a range. */
function Pick({
  label,
  checked,
  onPick,
}: {
  label: string;
  checked: boolean;
  onPick: (range: boolean) => void;
}) {
  return (
    <input
      type="checkbox"
      aria-label={label}
      checked={checked}
      onChange={() => undefined}
      onClick={({ shiftKey }) => onPick(shiftKey)}
    />
  );
}

function Name({ job, alike }: { job: JobView; alike: boolean }) {
  const { jobId, definitionKey } = job;
  const text = summary(job);
  return (
    <>
      <Link to="/jobs/$jobId" params={{ jobId }} className="row-link" data-row title={jobId}>
        {alike ? shortId(jobId) : definitionKey}
      </Link>{' '}
      {!alike && <span className="id">{shortId(jobId)}</span>}
      <span className="summary" title={text}>
        {text}
      </span>
    </>
  );
}

function Timing({ job }: { job: JobView }) {
  return timing(job, useNow());
}

function Remark({ job }: { job: JobView }) {
  const note = remark(job);
  if (note === '') return null;
  return (
    <span className={`remark${job.error ? ' bad' : ''}`} title={note}>
      {note}
    </span>
  );
}
