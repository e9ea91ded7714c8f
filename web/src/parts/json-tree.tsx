import { useState } from 'react';

const SHOWN_AT_FIRST = 100;
const OPEN_LEVELS = 2;

/** Collapsible JSON. Everything in it is rendered as text. */
export function JsonTree({ value, level = 0 }: { value: unknown; level?: number }) {
  if (typeof value !== 'object' || value === null) return <JsonLeaf value={value} />;
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  if (entries.length === 0) return <span className="json-mark">{`${open}${close}`}</span>;
  return (
    <details className="json" open={level < OPEN_LEVELS}>
      <summary>
        <span className="json-mark">{open}</span>
        <span className="json-size">
          {entries.length} {sizeWord(isList, entries.length)}
        </span>
      </summary>
      <JsonEntries entries={entries} isList={isList} level={level} />
      <span className="json-mark">{close}</span>
    </details>
  );
}

function JsonEntries({
  entries,
  isList,
  level,
}: {
  entries: [string, unknown][];
  isList: boolean;
  level: number;
}) {
  const [shown, setShown] = useState(SHOWN_AT_FIRST);
  return (
    <ul>
      {entries.slice(0, shown).map(([name, inner]) => (
        <li key={name}>
          <span className={isList ? 'json-index' : 'json-name'}>{name}</span>
          <JsonTree value={inner} level={level + 1} />
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
  const kind = value === null ? 'null' : typeof value;
  return <span className={`json-leaf json-${kind}`}>{JSON.stringify(value) ?? 'undefined'}</span>;
}

function sizeWord(isList: boolean, count: number): string {
  const word = isList ? 'entr' : 'field';
  return `${word}${count === 1 ? (isList ? 'y' : '') : isList ? 'ies' : 's'}`;
}
