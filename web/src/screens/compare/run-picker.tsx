import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import type { AttemptView } from '../../../../src/core/views/history.ts';
import { Panel } from '../../parts/panel.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import type { Run } from '../../words/job-page/comparison.ts';
import { shortId } from '../../../../src/core/job/short-id.ts';

const route = getRouteApi('/compare');

/** One side: its job, and the choice of the attempt. */
export function RunPicker({
  side,
  run: { job, attempt },
  attempts,
}: {
  side: 'A' | 'B';
  run: Run;
  attempts: readonly AttemptView[];
}) {
  const navigate = useNavigate();
  const search = route.useSearch();
  const choose = (claim: number) =>
    void navigate({
      to: '/compare',
      search: { ...search, [side === 'A' ? 'claimA' : 'claimB']: claim },
      replace: true,
    });
  return (
    <Panel title={side} aside={side === 'B' ? <Another /> : undefined}>
      <p className="compare-job">
        <StateBadge state={job.status} />{' '}
        <Link to="/jobs/$jobId" params={{ jobId: job.jobId }}>
          {job.definitionKey} <code>{shortId(job.jobId)}</code>
        </Link>
      </p>
      {attempt && (
        <label className="compare-attempt">
          Attempt{' '}
          <select value={attempt.claim} onChange={(event) => choose(Number(event.target.value))}>
            {attempts.map(({ claim, number }) => (
              <option key={claim} value={claim}>
                {number}
              </option>
            ))}
          </select>
        </label>
      )}
    </Panel>
  );
}

function Another() {
  const { a } = route.useSearch();
  return (
    <Link to="/compare" search={a === undefined ? {} : { a }}>
      Choose another job
    </Link>
  );
}
