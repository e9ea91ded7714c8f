import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { BATCH_KEY, type BatchJob, type BatchView } from '../../../../src/core/batch/batch.ts';
import { isTerminal, type JobView } from '../../../../src/core/job/job.ts';
import type { BatchSearch } from '../../words/batches/batch-words.ts';
import { read, readList } from '../../api/call.ts';
import { pollMs } from '../../api/connection.ts';

const SOON_MS = 2_000;
const LATER_MS = 10_000;

export interface BatchPage {
  batches: BatchView[];
  nextCursor: string | null;
}

/** The newest first. The server counts the jobs of each. */
export const batchesQuery = (cursor: string | undefined) =>
  queryOptions({
    queryKey: ['batches', cursor],
    queryFn: read<BatchPage>('/v1/batches', { cursor }),
    placeholderData: keepPreviousData,
    refetchInterval: () => pollMs(LATER_MS),
  });

export const batchQuery = (batchId: string) =>
  queryOptions({
    queryKey: ['batch', batchId],
    queryFn: read<BatchView>(`/v1/batches/${encodeURIComponent(batchId)}`),
    refetchInterval: ({ state: { data } }) =>
      pollMs(data && data.status !== 'open' && isTerminal(data.status) ? LATER_MS : SOON_MS),
  });

export interface BatchJobPage {
  jobs: BatchJob[];
  nextCursor: string | null;
}

export const batchJobsQuery = (batchId: string, { state, cursor }: BatchSearch) =>
  queryOptions({
    queryKey: ['batch-jobs', batchId, state, cursor],
    queryFn: read<BatchJobPage>(`/v1/batches/${encodeURIComponent(batchId)}/jobs`, {
      state,
      cursor,
    }),
    placeholderData: keepPreviousData,
    refetchInterval: () => pollMs(SOON_MS),
  });

/** Batches whose id begins or ends with these digits. A batch is a job of the system. */
export const batchesByIdQuery = (id: string) =>
  queryOptions({
    queryKey: ['batches-by-id', id],
    queryFn: readList<JobView>('jobs', '/v1/jobs', { id, definitionKey: BATCH_KEY }),
    staleTime: LATER_MS,
  });
