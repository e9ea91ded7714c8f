import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { JobView } from '../../../../src/core/job/job.ts';
import { jobsQuery } from '../../api/queries.ts';
import { Moment } from '../../parts/moment.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Waiting } from '../../parts/screen.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { shortId } from '../../../../src/core/job/short-id.ts';
import { summary } from '../../words/jobs/job-words.ts';

const SUGGESTED = 8;

/** Chooses the second job: one of the latest of the definition, or any by its id. */
export function OtherJob({
  job,
  chosen,
  error,
}: {
  job: JobView;
  chosen: string | undefined;
  error: Error | null;
}) {
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const { data } = useQuery(
    jobsQuery({ definitionKey: job.definitionKey, limit: SUGGESTED + 1 }, 5_000),
  );
  const others = (data?.jobs ?? []).filter(({ jobId }) => jobId !== job.jobId).slice(0, SUGGESTED);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== '') {
      void navigate({ to: '/compare', search: { a: job.jobId, b: text.trim() } });
    }
  };
  return (
    <Panel title="B">
      {chosen !== undefined && <Waiting error={error} />}
      <p className="soft">Compare with another job of this definition:</p>
      <ul className="suggestions">
        {others.map((other) => (
          <li key={other.jobId}>
            <StateBadge state={other.status} />
            <Link to="/compare" search={{ a: job.jobId, b: other.jobId }}>
              <code>{shortId(other.jobId)}</code>
            </Link>
            <Moment at={other.createdAt} />
            <span className="soft one-line">{summary(other)}</span>
          </li>
        ))}
        {others.length === 0 && <li className="soft">It has no other jobs.</li>}
      </ul>
      <form className="compare-id" onSubmit={submit}>
        <input
          type="text"
          aria-label="Id of another job"
          placeholder="or the id of a job"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <button type="submit">Compare</button>
      </form>
    </Panel>
  );
}
