import { useState } from 'react';
import { clampText } from '../words/json-size.ts';

const SHOWN_AT_FIRST = 100;
const OPEN_LEVELS = 2;

interface Level {
  level?: number;
  /** How many levels are open at first. */
  openLevels?: number;
}

/** Collapsible JSON. Everything in it is rendered as text, and only what is open. */
export function JsonTree({
  value,
  level = 0,
  openLevels = OPEN_LEVELS,
}: { value: unknown } & Level) {
  const [isOpen, setIsOpen] = useState(level < openLevels);
  if (typeof value !== 'object' || value === null) return <JsonLeaf value={value} />;
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  if (entries.length === 0) return <span className="json-mark">{`${open}${close}`}</span>;
  return (
    <details
      className="json"
      open={isOpen}
      onToggle={(event) => setIsOpen(event.currentTarget.open)}
    >
      <summary>
        <span className="json-mark">{open}</span>
        <span className="json-size">
          {entries.length} {sizeWord(isList, entries.length)}
        </span>
      </summary>
      {isOpen && (
        <>
          <JsonEntries entries={entries} isList={isList} level={level} openLevels={openLevels} />
          <span className="json-mark">{close}</span>
        </>
      )}
    </details>
  );
}

function JsonEntries({
  entries,
  isList,
  level,
  openLevels,
}: {
  entries: [string, unknown][];
  isList: boolean;
} & Required<Level>) {
  const [shown, setShown] = useState(SHOWN_AT_FIRST);
  return (
    <ul>
      {entries.slice(0, shown).map(([name, inner]) => (
        <li key={name}>
          <span className={isList ? 'json-index' : 'json-name'}>{name}</span>
          <JsonTree value={inner} level={level + 1} openLevels={openLevels} />
        </li>
      ))}
      {entries.length > shown && (
        <li>
          <button type="button" className="small" onClick={() => setShown(shown * 10)}>
            {entries.length - shown} more
          </button>
        </li>
      )}
    </ul>
  );
}

function JsonLeaf({ value }: { value: unknown }) {
  const [isWhole, setIsWhole] = useState(false);
  const kind = value === null ? 'null' : typeof value;
  const text = JSON.stringify(value) ?? 'undefined';
  const { shown, rest } = clampText(text);
  if (rest === 0 || isWhole) return <span className={`json-leaf json-${kind}`}>{text}</span>;
  return (
    <>
      <span className={`json-leaf json-${kind}`}>{shown}…</span>{' '}
      <button type="button" className="small" onClick={() => setIsWhole(true)}>
        {rest} more characters
      </button>
    </>
  );
}

function sizeWord(isList: boolean, count: number): string {
  const word = isList ? 'entr' : 'field';
  return `${word}${count === 1 ? (isList ? 'y' : '') : isList ? 'ies' : 's'}`;
}
