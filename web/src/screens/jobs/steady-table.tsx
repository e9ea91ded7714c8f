import { type ComponentProps, useState } from 'react';
import type { JobView } from '../../../../src/core/job/job.ts';
import { steady } from '../../words/alerts/steady.ts';
import { JobTable } from './job-table.tsx';

/** A live table that never moves a row under the pointer. */
export function SteadyTable({
  jobs,
  ...selection
}: { jobs: readonly JobView[] } & Pick<ComponentProps<typeof JobTable>, 'selected' | 'onSelect'>) {
  const [held, setHeld] = useState<readonly JobView[] | null>(null);
  const { rows, added } = held === null ? { rows: jobs, added: 0 } : steady(held, jobs);
  return (
    <div
      className="steady"
      onPointerEnter={() => setHeld(jobs)}
      onPointerLeave={() => setHeld(null)}
    >
      <JobTable jobs={rows} caption="Jobs" {...selection} />
      {added > 0 && (
        <button type="button" className="new-rows small" onClick={() => setHeld(jobs)}>
          {added} new: show
        </button>
      )}
    </div>
  );
}
