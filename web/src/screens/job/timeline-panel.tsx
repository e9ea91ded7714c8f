import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { JobView } from '../../../../src/core/job/job.ts';
import { attemptsQuery, eventsQuery, stepsQuery } from '../../api/queries.ts';
import { Panel } from '../../parts/panel.tsx';
import { Rows } from '../../parts/rows.tsx';
import { useNow } from '../../runtime/clock.ts';
import { type Range, zoomTo } from '../../words/job-page/axis.ts';
import {
  type Entry,
  entriesOf,
  lengthWords,
  type Timeline,
  timelineOf,
  totalWords,
} from '../../words/job-page/timeline.ts';
import { momentWithMs } from '../../words/moment.ts';
import { TimelineChart } from './timeline-chart.tsx';

/** The whole job on one axis, or one of its attempts; the same as a list. */
export function TimelinePanel({ job }: { job: JobView }) {
  const now = useNow();
  const { data: attempts } = useQuery(attemptsQuery(job.jobId, job));
  const { data: found } = useQuery(eventsQuery(job.jobId, job));
  const { data: stored } = useQuery(stepsQuery(job.jobId, job));
  const [zoomed, setZoomed] = useState('');
  const [isListed, setIsListed] = useState(false);
  if (!attempts || !found || !stored) return null;
  const history = { attempts, events: found.events, steps: stored.steps };
  const timeline = timelineOf(job, history, now);
  const drawnAttempts = entriesOf(timeline).filter(({ kind }) => kind === 'attempt');
  const subject = drawnAttempts.find(({ key }) => key === zoomed);
  const range: Range = subject ? zoomTo(subject, timeline) : timeline;
  return (
    <Panel
      title="Timeline"
      aside={
        <>
          {isWorthZooming(drawnAttempts, timeline) && (
            <select
              className="small"
              aria-label="Part of the timeline"
              value={zoomed}
              onChange={(event) => setZoomed(event.target.value)}
            >
              <option value="">Whole job</option>
              {drawnAttempts.map((entry) => (
                <option key={entry.key} value={entry.key}>
                  {`${entry.title} (${lengthWords(entry)})`}
                </option>
              ))}
            </select>
          )}{' '}
          {totalWords(timeline)}
        </>
      }
    >
      <TimelineChart timeline={timeline} range={range} />
      {(found.nextCursor !== null || !stored.complete) && (
        <p className="soft">Later events or steps are not shown here.</p>
      )}
      <details
        className="as-list"
        onToggle={(event) => setIsListed((event.target as HTMLDetailsElement).open)}
      >
        <summary>As a list</summary>
        {isListed && <EntryTable entries={entriesOf(timeline)} />}
      </details>
    </Panel>
  );
}

/** A short attempt in a long job is a line without width. */
function isWorthZooming(attempts: readonly Entry[], { fromMs, toMs }: Timeline): boolean {
  return attempts.some((entry) => entry.toMs - entry.fromMs < (toMs - fromMs) * 0.6);
}

function EntryTable({ entries }: { entries: readonly Entry[] }) {
  return (
    <Rows
      caption="Timeline, oldest first"
      rows={entries}
      keyOf={({ key }) => key}
      columns={[
        { title: 'What', cell: ({ title }) => title },
        {
          title: 'Start',
          kind: 'short',
          cell: ({ fromMs }) => momentWithMs(new Date(fromMs).toISOString()),
        },
        { title: 'Duration', kind: 'number', cell: lengthWords },
        { title: 'Details', kind: 'wide', titled: 'in-head', cell: ({ detail }) => detail },
      ]}
    />
  );
}
