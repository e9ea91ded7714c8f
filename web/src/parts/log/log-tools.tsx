import type { KeyboardEvent, ReactNode } from 'react';
import { type Level, LEVELS } from '../../../../src/core/views/history.ts';

const LEVEL_WORDS: Partial<Record<Level, string>> = { trace: 'All levels', fatal: 'fatal' };

/** Level filter, and a search with the way to the previous and next match. */
export function LogTools({
  level,
  onLevel,
  text,
  onText,
  current,
  count,
  onCurrent,
  children,
}: {
  level: Level;
  onLevel: (level: Level) => void;
  text: string;
  onText: (text: string) => void;
  current: number | null;
  count: number;
  onCurrent: (match: number) => void;
  children?: ReactNode;
}) {
  const step = (by: number) => {
    if (current !== null) onCurrent((current + by + count) % count);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') step(event.shiftKey ? -1 : 1);
  };
  return (
    <div className="log-tools" role="search" aria-label="Log">
      <select
        aria-label="Minimum level"
        value={level}
        onChange={(event) => onLevel(event.target.value as Level)}
      >
        {LEVELS.map((one) => (
          <option key={one} value={one}>
            {LEVEL_WORDS[one] ?? `${one} and above`}
          </option>
        ))}
      </select>
      <input
        type="search"
        placeholder="Search the log"
        aria-label="Search the log"
        value={text}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <button type="button" disabled={count === 0} onClick={() => step(-1)}>
        Previous
      </button>
      <button type="button" disabled={count === 0} onClick={() => step(1)}>
        Next
      </button>
      {children}
      <span className="soft" role="status">
        {text === '' ? '' : matchWords(current, count)}
      </span>
    </div>
  );
}

function matchWords(current: number | null, count: number): string {
  if (current === null) return 'No matching lines';
  return `${current + 1} of ${count} ${count === 1 ? 'line' : 'lines'}`;
}
