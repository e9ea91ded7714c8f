import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { BulkView } from '../../../../src/core/job/bulk.ts';
import { bulkPreviewQuery, bulkQuery } from '../../api/failure-queries.ts';
import { createCell } from '../../runtime/cell.ts';
import {
  bulkSentence,
  endsWords,
  failedAgainFilter,
  isSettled,
  type RetryEnds,
} from '../../words/jobs/bulk-words.ts';

/** The retry that was started last in this tab. */
export interface LastRetry {
  bulk: BulkView;
  /** Which jobs, for people. */
  what: string;
  jobIds: readonly string[] | null;
}

export const lastRetry = createCell<LastRetry | null>(null);

const AGAIN_MS = 3_000;
/** A count by a filter reads more jobs. */
const SEARCH_AGAIN_MS = 15_000;

/** How the last retry went, on the screens where one starts it. */
export function BulkResult() {
  const retry = lastRetry.use();
  return retry && <Result key={retry.bulk.bulkId} {...retry} />;
}

function Result({ bulk: began, what, jobIds }: LastRetry) {
  const { data: bulk = began } = useQuery(bulkQuery(began.bulkId));
  const ends = useEnds(bulk, jobIds);
  return (
    <div className="notice result" role="status" aria-label="Result of the last retry">
      <p>
        Retry of {what}: {bulkSentence(bulk)} {ends && endsWords(bulk.done, ends)}
        {ends !== null && ends.failed > 0 && (
          <>
            {' '}
            <Link to="/dead-letters" search={{ window: 'all', from: bulk.createdAt }}>
              View failed ones
            </Link>
          </>
        )}{' '}
        <Link to="/bulk">All bulk actions</Link>
      </p>
      <button type="button" className="quiet small" onClick={() => lastRetry.set(null)}>
        Dismiss
      </button>
    </div>
  );
}

/** Counts how the jobs ended after they were queued again. Nothing is changed: these are previews. */
function useEnds(bulk: BulkView, jobIds: readonly string[] | null): RetryEnds | null {
  const since = { finishedAfter: bulk.createdAt };
  const failedFilter =
    jobIds === null
      ? failedAgainFilter(bulk)
      : { jobIds: [...jobIds], status: ['failed' as const, 'cancelled' as const], ...since };
  const succeededFilter = { jobIds: [...(jobIds ?? [])], status: ['succeeded' as const], ...since };
  const [settled, setSettled] = useState(false);
  const againMs = jobIds === null ? SEARCH_AGAIN_MS : AGAIN_MS;
  const again = settled ? false : againMs;
  const { data: failed } = useQuery({
    ...bulkPreviewQuery('delete', failedFilter ?? {}),
    enabled: failedFilter !== null,
    refetchInterval: again,
  });
  const { data: succeeded } = useQuery({
    ...bulkPreviewQuery('delete', succeededFilter),
    enabled: jobIds !== null,
    refetchInterval: again,
  });
  const ends =
    failed && (jobIds === null || succeeded)
      ? {
          succeeded: succeeded?.matched ?? null,
          failed: failed.matched,
          failedIsExact: failed.matchedIsExact,
        }
      : null;
  const isOver = ends !== null && isSettled(bulk, ends);
  useEffect(() => setSettled(isOver), [isOver]);
  return ends;
}
