import { Link } from '@tanstack/react-router';
import type { JobView } from '../../../../src/core/job.ts';
import { Moment } from '../../parts/moment.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { useNow } from '../../runtime/clock.ts';
import { remark, shortId, summary, timing } from '../../words/job-words.ts';

/** Jobs as rows. The link of a row covers it, so that it can be clicked anywhere. */
export function JobTable({
  jobs,
  caption,
  alike = false,
}: {
  jobs: readonly JobView[];
  caption: string;
  /** All are of one definition, which is said elsewhere: their ids tell them apart. */
  alike?: boolean;
}) {
  return (
    <div className="scroll">
      <table className="rows jobs">
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">State</th>
            <th scope="col">Job</th>
            <th scope="col" className="number">
              Try
            </th>
            <th scope="col">Time</th>
            <th scope="col">Created</th>
            {!alike && <th scope="col">Owner</th>}
            <th scope="col">What happened</th>
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => (
            <JobRow key={job.jobId} job={job} alike={alike} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function JobRow({ job, alike }: { job: JobView; alike: boolean }) {
  const now = useNow();
  const note = remark(job);
  return (
    <tr>
      <td>
        <StateBadge state={job.status} />
      </td>
      <td className="wide">
        <Link to="/jobs/$jobId" params={{ jobId: job.jobId }} className="row-link" data-row>
          {alike ? shortId(job.jobId) : job.definitionKey}
        </Link>{' '}
        {!alike && <span className="id">{shortId(job.jobId)}</span>}
        <span className="summary">{summary(job.params)}</span>
      </td>
      <td className="number">
        {job.attempts}/{job.maxAttempts}
      </td>
      <td className="nowrap">{timing(job, now)}</td>
      <td className="nowrap">
        <Moment at={job.createdAt} />
      </td>
      {!alike && <td className="nowrap">{job.owner ?? <span className="soft">–</span>}</td>}
      <td className="wide">
        <span className={`remark${job.error && note !== '' ? ' bad' : ''}`} title={note}>
          {note}
        </span>
      </td>
    </tr>
  );
}
