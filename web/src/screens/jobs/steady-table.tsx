import { useState } from 'react';
import type { JobView } from '../../../../src/core/job/job.ts';
import { steady } from '../../words/alerts/steady.ts';
import { JobTable } from './job-table.tsx';

/** A table that grows by itself, but never moves a row away from under a pointer. */
export function SteadyTable({ jobs }: { jobs: readonly JobView[] }) {
  const [held, setHeld] = useState<readonly JobView[] | null>(null);
  const { rows, news } = held === null ? { rows: jobs, news: 0 } : steady(held, jobs);
  return (
    <div
      className="steady"
      onPointerEnter={() => setHeld(jobs)}
      onPointerLeave={() => setHeld(null)}
    >
      <JobTable jobs={rows} caption="Jobs" />
      {news > 0 && (
        <button type="button" className="news small" onClick={() => setHeld(jobs)}>
          {news} new: show
        </button>
      )}
    </div>
  );
}
