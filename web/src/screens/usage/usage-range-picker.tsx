import { useId, useState } from 'react';
import { RangeButtons } from '../../parts/charts/range-buttons.tsx';
import { now } from '../../runtime/clock.ts';
import {
  daysOf,
  rangeProblem,
  USAGE_RANGES,
  usageRangeOf,
  usageRangeWords,
  type UsageSearch,
} from '../../words/usage/usage-range.ts';

type Chosen = Pick<UsageSearch, 'range' | 'from' | 'to'>;

/** Chooses the days of the screen; they are in the URL. */
export function UsageRangePicker({
  search,
  onChange,
}: {
  search: UsageSearch;
  onChange: (chosen: Chosen) => void;
}) {
  return (
    <RangeButtons
      label="Days"
      ranges={USAGE_RANGES}
      chosen={usageRangeOf(search)}
      custom={usageRangeWords(search)}
      onChoose={(range) => onChange({ range })}
      form={(close) => (
        <CustomDays
          search={search}
          onChange={(chosen) => {
            close();
            onChange(chosen);
          }}
        />
      )}
    />
  );
}

function CustomDays({
  search,
  onChange,
}: {
  search: UsageSearch;
  onChange: (chosen: Chosen) => void;
}) {
  const id = useId();
  const [days, setDays] = useState(() => daysOf(search, now()));
  const [problem, setProblem] = useState<string | null>(null);
  const field = (title: string, name: 'from' | 'to') => (
    <label>
      {title}{' '}
      <input
        type="date"
        value={days[name]}
        aria-describedby={problem === null ? undefined : id}
        onChange={({ target }) => setDays({ ...days, [name]: target.value })}
      />
    </label>
  );
  return (
    <form
      className="custom-range"
      onSubmit={(event) => {
        event.preventDefault();
        const found = rangeProblem(days.from, days.to);
        setProblem(found);
        if (found === null) onChange(days);
      }}
    >
      {field('From', 'from')}
      {field('To', 'to')}
      <button type="submit" className="small">
        Show
      </button>
      {problem !== null && (
        <p id={id} className="bad-text" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}
