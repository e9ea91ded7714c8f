import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { JobView } from '../../../../src/core/job/job.ts';
import { call } from '../../api/call.ts';
import { failedChangeText, ProblemError } from '../../api/problem-error.ts';
import { Ask } from '../../parts/ask.tsx';
import { toasts } from '../../parts/toasts.tsx';
import { type RunAgain, readRunAgain } from '../../words/job-page/run-again.ts';

/** A new job of the same definition, with the same or other params. */
export function RunAgainDialog({ job, onClose }: { job: JobView; onClose: () => void }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const [text, setText] = useState(() => JSON.stringify(job.params, null, 2));
  const [wrong, setWrong] = useState<readonly string[]>([]);
  const start = useMutation({
    mutationFn: async (body: RunAgain) =>
      await call<{ jobId: string }>('POST', '/v1/jobs', { body }),
    onSuccess: async ({ jobId }) => {
      toasts.add('good', 'Job enqueued.');
      onClose();
      await navigate({ to: '/jobs/$jobId', params: { jobId }, search: { from: job.jobId } });
      await client.invalidateQueries();
    },
    onError: (error) => setWrong(complaints(error)),
  });
  const confirm = () => {
    const read = readRunAgain(job, text);
    if ('wrong' in read) setWrong([read.wrong]);
    else start.mutate(read);
    return 'stay' as const;
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
      <div role="alert">
        {wrong.map((one) => (
          <p key={one} className="wrong">
            {one}
          </p>
        ))}
      </div>
    </Ask>
  );
}

function complaints(error: Error): string[] {
  if (!(error instanceof ProblemError) || error.violations.length === 0) {
    return [failedChangeText(error)];
  }
  return error.violations.map(({ pointer, detail }) => `${pointer} ${detail}`);
}
