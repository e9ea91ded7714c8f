import { Link } from '@tanstack/react-router';
import { useLayoutEffect, useRef, useState } from 'react';
import { shortId } from '../../../../src/core/job/short-id.ts';
import type { DefinitionLogView } from '../../../../src/core/views/history.ts';
import { useOffered } from '../../api/signal-queries.ts';
import { useDefinitionTail } from '../../api/use-definition-tail.ts';
import { Panel } from '../../parts/panel.tsx';
import { plainText } from '../../words/jobs/log-tail.ts';
import { clockTime, fullMoment } from '../../words/moment.ts';

/** The log of all jobs of the definition, read only while it is open. */
export function LogsPanel({ definitionKey }: { definitionKey: string }) {
  const [open, setOpen] = useState(false);
  if (!useOffered('/v1/definitions/{key}/logs')) return null;
  return (
    <Panel
      title="Log of all jobs"
      flush
      aside={
        <button type="button" className="small" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? 'Close log' : 'Follow log'}
        </button>
      }
    >
      {open ? (
        <Tail definitionKey={definitionKey} />
      ) : (
        <p className="soft pad">Follow what all jobs of this definition write, live.</p>
      )}
    </Panel>
  );
}

function Tail({ definitionKey }: { definitionKey: string }) {
  const { lines, dropped, state } = useDefinitionTail(definitionKey, true);
  const box = useRef<HTMLDivElement>(null);
  const [follows, setFollows] = useState(true);
  const scrollToEnd = () => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  };
  useLayoutEffect(() => {
    if (follows) scrollToEnd();
  }, [lines, follows]);
  const onScroll = () => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = box.current ?? {};
    setFollows(scrollHeight - scrollTop - clientHeight < 24);
  };
  if (lines.length === 0) {
    return (
      <p className="soft pad" role="status">
        {state === 'live'
          ? 'No log output in the last hour. Waiting…'
          : 'Connection lost, reconnecting.'}
      </p>
    );
  }
  return (
    <>
      {dropped > 0 && (
        <p className="soft pad">{dropped.toLocaleString('en')} earlier lines are not shown.</p>
      )}
      <div
        className="log"
        ref={box}
        onScroll={onScroll}
        role="log"
        aria-label={`Log of all jobs of ${definitionKey}`}
        tabIndex={0}
      >
        {lines.map((line) => (
          <Line key={line.id} line={line} />
        ))}
      </div>
      {!follows && (
        <button
          type="button"
          className="to-end small"
          onClick={() => {
            scrollToEnd();
            setFollows(true);
          }}
        >
          Jump to end
        </button>
      )}
    </>
  );
}

function Line({ line }: { line: DefinitionLogView }) {
  return (
    <div className={`log-line log-of-job log-${line.level}`}>
      <time dateTime={line.at} title={fullMoment(line.at)}>
        {clockTime(line.at)}
      </time>
      <Link to="/jobs/$jobId" params={{ jobId: line.jobId }} title={line.jobId}>
        {shortId(line.jobId)}
      </Link>
      <span className="log-level">{line.stream === 'stderr' ? 'stderr' : line.level}</span>
      <span className="log-text">{plainText(line.message)}</span>
    </div>
  );
}
