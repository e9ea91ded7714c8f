import { Link } from '@tanstack/react-router';
import { memo, useLayoutEffect, useRef, useState } from 'react';
import type { DefinitionLogView, LogView } from '../../../../src/core/views/history.ts';
import { shortId } from '../../../../src/core/job/short-id.ts';
import {
  lineText,
  piecesOf,
  WINDOW_LINES,
  windowAround,
  windowOf,
} from '../../words/job-page/log-search.ts';
import { clockTimeWithMs, dayOf, fullMoment } from '../../words/moment.ts';

/** A line of a job, or of one of the jobs of a definition. */
export type ShownLine = LogView & Partial<Pick<DefinitionLogView, 'jobId'>>;

/**
 * A window of the lines. It follows the end unless the user has scrolled up, and moves to the line
 * that a search has found (`target`).
 */
export function LogLines({
  label,
  lines,
  wanted,
  target,
}: {
  label: string;
  lines: readonly ShownLine[];
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
      <div className="log" ref={box} onScroll={onScroll} role="log" aria-label={label} tabIndex={0}>
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
  line: ShownLine;
  before: ShownLine | undefined;
  wanted: string;
  isCurrent: boolean;
}

const LogLine = memo(function LogLine({ line, before, wanted, isCurrent }: LineProps) {
  const { jobId, attempt, at, level } = line;
  const isOfJob = jobId !== undefined;
  const sameDay = before !== undefined && dayOf(before.at) === dayOf(at);
  const begins = !sameDay || (!isOfJob && before.attempt !== attempt);
  return (
    <>
      {begins && (
        <div className="log-attempt">
          {isOfJob ? dayOf(at) : `Attempt ${attempt} · ${dayOf(at)}`}
        </div>
      )}
      <div
        className={`log-line log-${level}${isOfJob ? ' log-of-job' : ''}${isCurrent ? ' current' : ''}`}
      >
        <time dateTime={at} title={fullMoment(at)}>
          {clockTimeWithMs(at)}
        </time>
        {isOfJob && (
          <Link to="/jobs/$jobId" params={{ jobId }} title={jobId}>
            {shortId(jobId)}
          </Link>
        )}
        <span className="log-level">{line.stream === 'stderr' ? 'stderr' : level}</span>
        <span className="log-text">
          {piecesOf(lineText(line), wanted).map(({ text, hit }, index) =>
            hit ? <mark key={index}>{text}</mark> : text,
          )}
        </span>
      </div>
    </>
  );
});
