import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { DeadLetterGroup } from '../../../../src/core/failure/dead-letter.ts';
import { readSearch } from '../../../../src/core/search/search.ts';
import { definitionsQuery } from '../../api/queries.ts';
import { SearchField } from '../../parts/search/search-field.tsx';
import { errorName } from '../../words/alerts/matrix.ts';
import { plainText } from '../../words/jobs/log-tail.ts';
import { WINDOWS } from '../../words/alerts/window.ts';
import { type FailuresSearch, WINDOW_DEFAULT } from './failures-search.ts';

export function FailureFilters({
  search,
  error,
}: {
  search: FailuresSearch;
  /** The one that is chosen, if it is among those that were counted. */
  error: DeadLetterGroup | undefined;
}) {
  const navigate = useNavigate();
  const { data: definitions = [] } = useQuery(definitionsQuery());
  const change = (to: Partial<Record<keyof FailuresSearch, string | undefined>>) => {
    const next = { ...search, cursor: undefined, ...to } as FailuresSearch;
    void navigate({ to: '/dead-letters', search: next });
  };
  const keys = new Set(definitions.map(({ key }) => key));
  if (search.definitionKey !== undefined) keys.add(search.definitionKey);
  return (
    <div className="filters">
      <SearchField
        text={search.q ?? ''}
        label="Search dead letters"
        placeholder="owner:billing code:TIMEOUT, or a text in the error or params  ( / )"
        onSearch={(text) => {
          const reading = readSearch(text);
          if ('problem' in reading) return reading.problem;
          change({ q: text.trim() || undefined });
          return null;
        }}
      />
      <label>
        <span className="visually-hidden">Definition</span>
        <select
          value={search.definitionKey ?? ''}
          onChange={(event) => change({ definitionKey: event.target.value || undefined })}
        >
          <option value="">All definitions</option>
          {[...keys].sort().map((key) => (
            <option key={key} value={key}>
              {key}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span className="visually-hidden">Failed</span>
        <select
          value={search.window ?? WINDOW_DEFAULT}
          onChange={(event) =>
            change({ window: event.target.value, from: undefined, to: undefined })
          }
        >
          {Object.entries(WINDOWS).map(([name, { words }]) => (
            <option key={name} value={name}>
              {words}
            </option>
          ))}
          <option value="all">Any time</option>
        </select>
      </label>
      <Chosen search={search} error={error} onChange={change} />
    </div>
  );
}

/** Filters chosen by a cell or link; each can be removed. */
function Chosen({
  search,
  error,
  onChange,
}: {
  search: FailuresSearch;
  error: DeadLetterGroup | undefined;
  onChange: (to: Partial<Record<keyof FailuresSearch, undefined>>) => void;
}) {
  const { fingerprint, errorCode, from } = search;
  return (
    <>
      {fingerprint !== undefined && (
        <button
          type="button"
          title={error && plainText(error.message)}
          onClick={() => onChange({ fingerprint: undefined })}
        >
          {error ? `Only ${errorName(error)} ×` : 'One error only ×'}
        </button>
      )}
      {errorCode !== undefined && (
        <button type="button" onClick={() => onChange({ errorCode: undefined })}>
          {errorCode} ×
        </button>
      )}
      {from !== undefined && (
        <button type="button" onClick={() => onChange({ from: undefined, to: undefined })}>
          One part of the time ×
        </button>
      )}
    </>
  );
}
