import { useId, useState } from 'react';
import { now } from '../../runtime/clock.ts';
import { RangeButtons } from './range-buttons.tsx';
import { fieldTime, timeOfField } from '../../words/charts/field-time.ts';
import {
  type ChartSearch,
  rangeOf,
  rangeProblem,
  RANGES,
  rangeWords,
} from '../../words/charts/range.ts';
import { shownZone } from '../../words/zone.ts';

/** Chooses the time range of the charts of a screen; it is in the URL. */
export function RangePicker({
  search,
  onChange,
}: {
  search: ChartSearch;
  onChange: (search: ChartSearch) => void;
}) {
  return (
    <RangeButtons
      label="Time range"
      ranges={RANGES}
      chosen={rangeOf(search)}
      custom={rangeWords(search)}
      onChoose={(range) => onChange({ range })}
      form={(close) => (
        <CustomRange
          key={`${search.from} ${search.to}`}
          search={search}
          onChange={(next) => {
            close();
            onChange(next);
          }}
        />
      )}
    />
  );
}

function CustomRange({
  search,
  onChange,
}: {
  search: ChartSearch;
  onChange: (search: ChartSearch) => void;
}) {
  const id = useId();
  const [opened] = useState(() => now());
  const range = rangeOf(search);
  const backMs = range === null ? 0 : RANGES[range].minutes * 60_000;
  const [from, setFrom] = useState(
    fieldTime(search.from ? new Date(search.from) : new Date(opened.getTime() - backMs)),
  );
  const [to, setTo] = useState(fieldTime(search.to ? new Date(search.to) : opened));
  const [problem, setProblem] = useState<string | null>(null);
  return (
    <form
      className="custom-range"
      onSubmit={(event) => {
        event.preventDefault();
        const [begin, end] = [timeOfField(from), timeOfField(to)];
        setProblem(rangeProblem(begin, end, now()));
        if (begin === null || end === null || rangeProblem(begin, end, now()) !== null) return;
        onChange({ from: begin.toISOString(), to: end.toISOString() });
      }}
    >
      <label>
        From{' '}
        <input
          type="datetime-local"
          value={from}
          aria-describedby={problem === null ? undefined : id}
          onChange={({ target }) => setFrom(target.value)}
        />
      </label>
      <label>
        To{' '}
        <input
          type="datetime-local"
          value={to}
          aria-describedby={problem === null ? undefined : id}
          onChange={({ target }) => setTo(target.value)}
        />
      </label>
      <span className="soft">{shownZone()}</span>
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
