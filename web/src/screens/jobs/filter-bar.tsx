import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import type { JobState } from '../../../../src/core/job/job.ts';
import type { StateCounts } from '../../../../src/core/views/stats.ts';
import { definitionsQuery } from '../../api/queries.ts';
import { useStats } from '../../api/signal-queries.ts';
import { SearchField } from '../../parts/search/search-field.tsx';
import { readSearchText, writeSearchText } from '../../words/search/search-text.ts';
import { SINCE_MS, SINCE_WORDS, type Since } from '../../words/since.ts';
import { sumOf } from '../../words/alerts/throughput.ts';
import { type JobsSearch, sameStates, tabCounts, TABS } from './jobs-search.ts';

const NOTHING = { definitionKey: undefined, tag: undefined, errorCode: undefined, q: undefined };

/** Filters of the list of jobs; their state is in the URL. */
export function FilterBar({ search }: { search: JobsSearch }) {
  const navigate = useNavigate();
  const counts = tabCounts(search, useStats());
  const { data: definitions = [] } = useQuery(definitionsQuery());
  const keys = definitions.map(({ key }) => key);
  const change = (to: Partial<Record<keyof JobsSearch, unknown>>) => {
    const next = { ...search, cursor: undefined, ...to } as JobsSearch;
    void navigate({ to: '/jobs', search: next });
  };
  return (
    <div className="filters">
      <SearchField
        key={writeSearchText(search)}
        text={writeSearchText(search)}
        label="Search jobs"
        placeholder="status:failed owner:billing timeout, a definition or a job id  ( / )"
        onSearch={(text) => {
          const reading = readSearchText(text, keys);
          if ('problem' in reading) return reading.problem;
          if ('jobId' in reading) {
            void navigate({ to: '/jobs/$jobId', params: { jobId: reading.jobId } });
          } else change({ ...NOTHING, ...reading.wanted });
          return null;
        }}
      />
      <label>
        <span className="visually-hidden">Created</span>
        <select
          value={search.since ?? ''}
          onChange={(event) => change({ since: event.target.value || undefined })}
        >
          <option value="">Any time</option>
          {Object.keys(SINCE_MS).map((since) => (
            <option key={since} value={since}>
              {SINCE_WORDS[since as Since]}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span className="visually-hidden">Order</span>
        <select
          value={search.sort ?? ''}
          onChange={(event) => change({ sort: event.target.value || undefined })}
        >
          <option value="">Newest first</option>
          <option value="createdAt">Oldest first</option>
        </select>
      </label>
      <nav className="tabs" aria-label="States">
        {TABS.map(({ title, status }) => (
          <Link
            key={title}
            to="/jobs"
            search={tabSearch(search, status)}
            activeOptions={{ exact: true }}
            aria-current={sameStates(status, search.status ?? []) ? 'page' : undefined}
            activeProps={{}}
          >
            {title}
            {counts && status.length > 0 && (
              <span className="count">{countWords(status, counts)}</span>
            )}
          </Link>
        ))}
      </nav>
    </div>
  );
}

function countWords(states: readonly JobState[], counts: StateCounts): string {
  const sum = sumOf(states.map((state) => counts[state]));
  return sum === 0 ? '' : ` ${sum.toLocaleString('en')}`;
}

function tabSearch(search: JobsSearch, status: (typeof TABS)[number]['status']): JobsSearch {
  const next: JobsSearch = { ...search, status: [...status] };
  delete next.cursor;
  if (status.length === 0) delete next.status;
  return next;
}
