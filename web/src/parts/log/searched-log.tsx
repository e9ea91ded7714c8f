import { type ReactNode, useDeferredValue, useMemo, useState } from 'react';
import type { Level } from '../../../../src/core/views/history.ts';
import { downloadText } from '../../runtime/download.ts';
import { atLeastLevel, logText, matchingLines } from '../../words/job-page/log-search.ts';
import { LogLines, type ShownLine } from './log-lines.tsx';
import { LogTools } from './log-tools.tsx';

/** Lines of a log with a level filter and a search. */
export function SearchedLog({
  label,
  lines,
  fileName,
  children,
}: {
  label: string;
  lines: readonly ShownLine[];
  /** With it, what is shown can be downloaded. */
  fileName?: string;
  /** A remark above the lines. */
  children?: ReactNode;
}) {
  const [level, setLevel] = useState<Level>('trace');
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<number | null>(null);
  const wanted = useDeferredValue(text);
  const shown = useMemo(() => atLeastLevel(lines, level), [lines, level]);
  const matches = useMemo(() => matchingLines(shown, wanted), [shown, wanted]);
  // A search starts at its last match, which is the newest.
  const current = matches.length === 0 ? null : Math.min(chosen ?? Infinity, matches.length - 1);
  return (
    <>
      <LogTools
        level={level}
        onLevel={setLevel}
        text={text}
        onText={(typed) => {
          setText(typed);
          setChosen(null);
        }}
        current={current}
        count={matches.length}
        onCurrent={setChosen}
      >
        {fileName !== undefined && (
          <button
            type="button"
            disabled={shown.length === 0}
            onClick={() => downloadText(fileName, logText(shown), 'text/plain')}
          >
            Download these lines
          </button>
        )}
      </LogTools>
      {children}
      {shown.length === 0 ? (
        <p className="soft pad">No line has this level.</p>
      ) : (
        <LogLines
          key={level}
          label={label}
          lines={shown}
          wanted={wanted}
          target={current === null ? null : (matches[current] ?? null)}
        />
      )}
    </>
  );
}
