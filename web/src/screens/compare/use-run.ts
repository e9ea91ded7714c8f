import { useQuery } from '@tanstack/react-query';
import type { AttemptView } from '../../../../src/core/views/history.ts';
import { attemptsQuery, jobQuery, stepsQuery, workersQuery } from '../../api/queries.ts';
import type { Run } from '../../words/job-page/comparison.ts';

/** A run of a job: the attempt of that claim, or its last one. */
export function useRun(
  jobId: string | undefined,
  claim: number | undefined,
): { run: Run | null; attempts: readonly AttemptView[]; error: Error | null } {
  const { data: job, error } = useQuery({
    ...jobQuery(jobId ?? ''),
    enabled: jobId !== undefined,
  });
  const { data: attempts } = useQuery(attemptsQuery(jobId ?? '', job));
  const { data: stored } = useQuery(stepsQuery(jobId ?? '', job));
  const { data: workers = [] } = useQuery(workersQuery());
  if (!job || !attempts || !stored) return { run: null, attempts: [], error };
  const attempt = attempts.find((one) => one.claim === claim) ?? attempts.at(-1) ?? null;
  const worker = workers.find(({ workerId }) => workerId === attempt?.workerId);
  return { run: { job, attempt, steps: stored.steps, worker }, attempts, error };
}
