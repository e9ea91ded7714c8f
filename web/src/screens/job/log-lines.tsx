import { memo, useLayoutEffect, useRef, useState } from 'react';
import type { LogView } from '../../../../src/core/views/history.ts';
import {
  lineText,
  piecesOf,
  WINDOW_LINES,
  windowAround,
  windowOf,
} from '../../words/job-page/log-search.ts';
import { clockTimeWithMs, dayOf, fullMoment } from '../../words/moment.ts';

/**
 * A window of the lines. It follows the end unless the user has scrolled up, and moves to the line
 * that a search has found (`target`).
 */
export function LogLines({
  lines,
  wanted,
  target,
}: {
  lines: readonly LogView[];
  wanted: string;
  target: number | null;
}) {
  const [follows, setFollows] = useState(true);
  const [first, setFirst] = useState<number | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const { start, end } = windowOf(lines.length, first);

  const scrollToEnd = () => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  };
  // Runs before the scroll event, which would look as if the user had scrolled up.
  useLayoutEffect(() => {
    if (follows) scrollToEnd();
  }, [lines, follows]);
  useLayoutEffect(() => {
    if (target === null) return;
    setFollows(false);
    if (target < start || target >= end) setFirst(windowAround(target));
    // A target outside of the window is found after the next render.
    const found = box.current?.querySelector<HTMLElement>('.log-line.current');
    if (box.current && found) {
      box.current.scrollTop = found.offsetTop - box.current.clientHeight / 2;
    }
    // New lines must not scroll back to the match.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [target, first, wanted]);
  const jumpToEnd = () => {
    setFirst(null);
    // A scroll event that is still to come reads this position, and does not undo the click.
    scrollToEnd();
    setFollows(true);
  };
  const onScroll = () => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = box.current ?? {};
    const atEnd = end === lines.length && scrollHeight - scrollTop - clientHeight < 24;
    setFollows(atEnd);
    // New lines must not push away what the user reads.
    setFirst(atEnd ? null : start);
  };
  return (
    <>
      <div
        className="log"
        ref={box}
        onScroll={onScroll}
        role="log"
        aria-label="Log of the job"
        tabIndex={0}
      >
        {start > 0 && (
          <More words={`${start} earlier lines`} onClick={() => setFirst(start - WINDOW_LINES)} />
        )}
        {lines.slice(start, end).map((line, index) => (
          <LogLine
            key={line.id}
            line={line}
            before={index === 0 ? undefined : lines[start + index - 1]}
            wanted={wanted}
            isCurrent={start + index === target}
          />
        ))}
        {end < lines.length && (
          <More words={`${lines.length - end} later lines`} onClick={() => setFirst(end)} />
        )}
      </div>
      {!follows && (
        <button type="button" className="to-end small" onClick={jumpToEnd}>
          Jump to end
        </button>
      )}
    </>
  );
}

function More({ words, onClick }: { words: string; onClick: () => void }) {
  return (
    <div className="log-attempt">
      <button type="button" className="small" onClick={onClick}>
        {words}
      </button>
    </div>
  );
}

interface LineProps {
  line: LogView;
  before: LogView | undefined;
  wanted: string;
  isCurrent: boolean;
}

const LogLine = memo(function LogLine({ line, before, wanted, isCurrent }: LineProps) {
  const begins = before?.attempt !== line.attempt || dayOf(before.at) !== dayOf(line.at);
  return (
    <>
      {begins && (
        <div className="log-attempt">
          Attempt {line.attempt} · {dayOf(line.at)}
        </div>
      )}
      <div className={`log-line log-${line.level}${isCurrent ? ' current' : ''}`}>
        <time dateTime={line.at} title={fullMoment(line.at)}>
          {clockTimeWithMs(line.at)}
        </time>
        <span className="log-level">{line.stream === 'stderr' ? 'stderr' : line.level}</span>
        <span className="log-text">
          {piecesOf(lineText(line), wanted).map(({ text, hit }, index) =>
            hit ? <mark key={index}>{text}</mark> : text,
          )}
        </span>
      </div>
    </>
  );
});
