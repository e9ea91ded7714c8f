import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { JobView } from '../../../../src/core/job/job.ts';
import { call } from '../../api/call.ts';
import { useAsked } from '../../api/use-change.ts';
import { Ask } from '../../parts/ask.tsx';
import { Complaint } from '../../parts/dialog.tsx';
import { type RunAgain, readRunAgain } from '../../words/job-page/run-again.ts';

/** A new job of the same definition, with the same or other params. */
export function RunAgainDialog({ job, onClose }: { job: JobView; onClose: () => void }) {
  const navigate = useNavigate();
  const [text, setText] = useState(() => JSON.stringify(job.params, null, 2));
  const [wrong, setWrong] = useState<readonly string[]>([]);
  const start = useAsked(
    async (body: RunAgain) => await call<{ jobId: string }>('POST', '/v1/jobs', { body }),
    ({ jobId }) => {
      void navigate({ to: '/jobs/$jobId', params: { jobId }, search: { from: job.jobId } });
      onClose();
      return 'Job enqueued.';
    },
  );
  const confirm = () => {
    const read = readRunAgain(job, text);
    setWrong('wrong' in read ? [read.wrong] : []);
    return 'wrong' in read ? ('stay' as const) : start(read);
  };
  return (
    <Ask
      title="Run again as a new job"
      confirm="Run job"
      tone="primary"
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>
        It has the code that new jobs get now. Priority, tags and concurrency key are those of this
        job.
      </p>
      <label className="field">
        <span>Params</span>
        <textarea
          rows={10}
          spellCheck={false}
          value={text}
          aria-invalid={wrong.length > 0}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <Complaint wrong={wrong} />
    </Ask>
  );
}
