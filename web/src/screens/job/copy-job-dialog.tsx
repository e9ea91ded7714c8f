import { useNavigate } from '@tanstack/react-router';
import type { PublishedDefinition } from '../../../../src/client/job.ts';
import type { JobView } from '../../../../src/core/job/job.ts';
import { call } from '../../api/call.ts';
import { useAsked } from '../../api/use-change.ts';
import { Ask } from '../../parts/ask.tsx';
import { copyOf, type JobCopy } from '../../words/job-page/copy-job.ts';
import { JobParamsInput, otherComplaints, useJobParams } from './job-params.tsx';

/** A new job of the same definition, with the same or other params. */
export function CopyJobDialog({
  job,
  definition,
  onClose,
}: {
  job: JobView;
  /** The one that new jobs get. */
  definition: PublishedDefinition | undefined;
  onClose: () => void;
}) {
  const navigate = useNavigate();
  const params = useJobParams(job, definition);
  const start = useAsked(
    async (body: JobCopy) => await call<{ jobId: string }>('POST', '/v1/jobs', { body }),
    ({ jobId }) => {
      void navigate({ to: '/jobs/$jobId', params: { jobId }, search: { from: job.jobId } });
      onClose();
      return 'Job enqueued.';
    },
  );
  const confirm = () => {
    const read = params.draft.read();
    if ('params' in read) return params.checked(start(copyOf(job, read.params)));
    params.setWrong({ [read.pointer]: read.wrong });
    return 'stay' as const;
  };
  return (
    <Ask
      title="Copy as new job"
      confirm="Copy as new job"
      tone="primary"
      complaints={otherComplaints}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>
        It has the code that new jobs get now. Priority, tags and concurrency key are those of this
        job.
      </p>
      <JobParamsInput params={params} />
    </Ask>
  );
}
