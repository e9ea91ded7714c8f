import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { BATCH_KEY } from '../../../../src/core/batch/batch.ts';
import { isTerminal, type JobState, type JobView } from '../../../../src/core/job/job.ts';
import { call } from '../../api/call.ts';
import { definitionsQuery, offersQuery } from '../../api/queries.ts';
import { useAsked, useChange } from '../../api/use-change.ts';
import { useMay } from '../../api/use-may.ts';
import { AskButton } from '../../parts/ask.tsx';
import { Icon } from '../../parts/icon.tsx';
import { cancelWords } from '../../words/job-page/cancel-words.ts';
import type { RetryRequest } from '../../words/jobs/retry-request.ts';
import { mayCopy } from '../../words/job-page/copy-job.ts';
import { newestVersions } from '../../words/queues/definition-words.ts';
import { CopyJobDialog } from './copy-job-dialog.tsx';
import { RetryDialog } from './retry-dialog.tsx';

interface Receipt {
  jobId: string;
  status: JobState;
}

/** Actions that the job's state allows. */
export function JobActions({ job }: { job: JobView }) {
  const [asking, setAsking] = useState<'retry' | 'copy' | null>(null);
  const { data: offers = [] } = useQuery(offersQuery());
  const { data: definitions = [] } = useQuery(definitionsQuery());
  const own = definitions.filter(({ key }) => key === job.definitionKey);
  const isInline = own.some(
    ({ version, isolation }) => version === job.definitionVersion && isolation === 'inline',
  );
  const post = async (verb: string, body?: object) =>
    await call<Receipt>('POST', `/v1/jobs/${job.jobId}/${verb}`, { body });
  const cancel = useAsked(
    async () => await post('cancel'),
    ({ status }) => (status === 'cancelled' ? 'Job cancelled.' : 'Cancellation requested.'),
  );
  const release = useChange(
    async () => await post('release'),
    () => 'Job released.',
  );
  const retryWith = async (request: RetryRequest) => await post('retry', request);
  const retried = ({ status }: Receipt) =>
    status === 'queued' ? 'Job requeued.' : `Job ${status}.`;
  const retry = useChange(retryWith, retried);
  const retryAsked = useAsked(retryWith, retried);
  const may = useMay('jobs:write');
  if (job.definitionKey === BATCH_KEY) return <ViewBatch batchId={job.jobId} />;
  if (!may) return null;
  const mayRetry = job.status === 'failed' || job.status === 'cancelled';
  return (
    <>
      {job.status === 'created' && (
        <button type="button" className="primary" onClick={() => release.mutate(undefined)}>
          <Icon name="play" />
          Release
        </button>
      )}
      {mayCopy(job) && (
        <button type="button" onClick={() => setAsking('copy')}>
          Copy as new job…
        </button>
      )}
      {mayRetry && offers.includes('/v1/jobs/{jobId}/retry') && (
        <>
          <button type="button" onClick={() => setAsking('retry')}>
            Retry with changes…
          </button>
          <button
            type="button"
            className="primary"
            disabled={retry.isPending}
            onClick={() => retry.mutate({ mode: 'now' })}
          >
            <Icon name="retry" />
            Retry
          </button>
        </>
      )}
      {!isTerminal(job.status) && job.status !== 'cancelling' && (
        <AskButton
          label={
            <>
              <Icon name="stop" />
              Cancel
            </>
          }
          className="danger"
          title="Cancel this job?"
          confirm="Cancel job"
          dismiss={job.status === 'running' ? 'Keep running' : 'Keep job'}
          onConfirm={() => cancel(undefined)}
        >
          <p>{cancelWords(job, isInline)} You can retry it later.</p>
        </AskButton>
      )}
      {asking === 'copy' && (
        <CopyJobDialog
          job={job}
          definition={newestVersions(own)[0]}
          onClose={() => setAsking(null)}
        />
      )}
      {asking === 'retry' && (
        <RetryDialog
          job={job}
          definitions={own}
          onRetry={async (request) => await retryAsked(request)}
          onClose={() => setAsking(null)}
        />
      )}
    </>
  );
}

/** A batch is changed with its jobs, on its own page. */
function ViewBatch({ batchId }: { batchId: string }) {
  return (
    <Link to="/batches/$batchId" params={{ batchId }} className="button primary">
      View batch
    </Link>
  );
}
