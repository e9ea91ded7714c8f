import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { isTerminal, type JobState, type JobView } from '../../../../src/core/job/job.ts';
import { call } from '../../api/call.ts';
import { offersQuery } from '../../api/queries.ts';
import { useChange } from '../../api/use-change.ts';
import { useMay } from '../../api/use-may.ts';
import { Ask } from '../../parts/ask.tsx';
import { Icon } from '../../parts/icon.tsx';
import type { RetryRequest } from '../../words/jobs/retry-request.ts';
import { RetryDialog } from './retry-dialog.tsx';

interface Receipt {
  jobId: string;
  status: JobState;
}

/** Actions that the job's state allows. */
export function JobActions({ job }: { job: JobView }) {
  const [asking, setAsking] = useState<'cancel' | 'retry' | null>(null);
  const { data: offers = [] } = useQuery(offersQuery());
  const post = async (verb: string, body?: object) =>
    await call<Receipt>('POST', `/v1/jobs/${job.jobId}/${verb}`, { body });
  const cancel = useChange(
    async () => await post('cancel'),
    ({ status }) => (status === 'cancelled' ? 'Job cancelled.' : 'Cancellation requested.'),
  );
  const release = useChange(
    async () => await post('release'),
    () => 'Job released.',
  );
  const retry = useChange(
    async (request: RetryRequest) => await post('retry', request),
    ({ status }) => (status === 'queued' ? 'Job requeued.' : `Job ${status}.`),
  );
  if (!useMay('jobs:write')) return null;
  const mayRetry = job.status === 'failed' || job.status === 'cancelled';
  return (
    <>
      {job.status === 'created' && (
        <button type="button" className="primary" onClick={() => release.mutate(undefined)}>
          <Icon name="play" />
          Release
        </button>
      )}
      {mayRetry && offers.includes('/v1/jobs/{jobId}/retry') && (
        <>
          <button type="button" onClick={() => setAsking('retry')}>
            Retry with…
          </button>
          <button type="button" className="primary" onClick={() => retry.mutate({ mode: 'now' })}>
            <Icon name="retry" />
            Retry now
          </button>
        </>
      )}
      {!isTerminal(job.status) && job.status !== 'cancelling' && (
        <button type="button" className="danger" onClick={() => setAsking('cancel')}>
          <Icon name="stop" />
          Cancel
        </button>
      )}
      {asking === 'retry' && (
        <RetryDialog
          job={job}
          onRetry={(request) => retry.mutate(request)}
          onClose={() => setAsking(null)}
        />
      )}
      {asking === 'cancel' && (
        <Ask
          title="Cancel this job?"
          confirm="Cancel job"
          onConfirm={() => cancel.mutate(undefined)}
          onClose={() => setAsking(null)}
        >
          <p>
            {job.status === 'running'
              ? 'The job is asked to stop; its process is killed if it does not.'
              : 'The job will not run.'}{' '}
            This can’t be undone.
          </p>
        </Ask>
      )}
    </>
  );
}
