import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { misspeltTerms, misspeltWords } from '../../../../src/core/search/misspelt.ts';
import { unsearchedWords } from '../../../../src/core/search/unsearched.ts';
import type { DeadLetterPage } from '../../api/failure-queries.ts';
import { NO_VALUES, searchValuesQuery } from '../../api/search-queries.ts';
import { Empty } from '../../parts/screen.tsx';
import { now } from '../../runtime/clock.ts';
import { WINDOWS } from '../../words/alerts/window.ts';
import { sentenceCase } from '../../words/jobs/job-words.ts';
import { noneFailedYet } from '../../words/search/page-words.ts';
import { type FailuresSearch, WINDOW_DEFAULT, withoutOne } from './failures-search.ts';

/** Never a bare "none" while dead letters are left that were not searched. */
export function NoLetters({ search, page }: { search: FailuresSearch; page: DeadLetterPage }) {
  const { data: known = NO_VALUES } = useQuery(searchValuesQuery());
  const unsearched = unsearchedWords(page.unsearched ?? []);
  const { cursor: _cursor, ...kept } = search;
  const { window = WINDOW_DEFAULT } = kept;
  if (page.nextCursor !== null) {
    return (
      <Empty title={noneFailedYet(page.searchedUntil, now())}>
        {unsearched !== null && <p>{unsearched}</p>}
        <Link to="/dead-letters" search={{ ...search, cursor: page.nextCursor }} className="button">
          Search further
        </Link>
      </Empty>
    );
  }
  const isNarrow = Object.keys(kept).some((name) => name !== 'window');
  if (!isNarrow && window === 'all') {
    return (
      <Empty title="No dead letters">
        <p>A job that used up its attempts, or cannot succeed, is kept here until it is retried.</p>
      </Empty>
    );
  }
  const title = isNarrow
    ? 'No matching dead letters'
    : `No dead letters of the ${window === 'all' ? 'past' : WINDOWS[window].words.toLowerCase()}`;
  return (
    <Empty title={title}>
      {unsearched !== null && <p>{unsearched}</p>}
      <ul className="ways">
        {misspeltTerms(search.q ?? '', known).map((one) => (
          <li key={one.typed}>
            {sentenceCase(misspeltWords(one))}{' '}
            <Link to="/dead-letters" search={{ ...kept, q: one.corrected }}>
              Search {one.nearest}
            </Link>
          </li>
        ))}
        {withoutOne(search).map(({ words, search: less }) => (
          <li key={words}>
            <Link to="/dead-letters" search={less}>
              {words}
            </Link>
          </li>
        ))}
        {isNarrow && (
          <li>
            <Link to="/dead-letters" search={{}}>
              Show the last 7 days
            </Link>
          </li>
        )}
      </ul>
    </Empty>
  );
}
