import { useQuery } from '@tanstack/react-query';
import { duration } from '../../../../src/core/values/duration.ts';
import type { AttemptView } from '../../../../src/core/views/history.ts';
import type { WorkerView } from '../../../../src/core/queue/worker.ts';
import { workersQuery } from '../../api/queries.ts';
import { Moment } from '../../parts/moment.tsx';
import { Rows } from '../../parts/rows.tsx';
import { useNow } from '../../runtime/clock.ts';
import { plainText } from '../../words/jobs/log-tail.ts';
import { bytes, timeSince } from '../../words/moment.ts';
import { outcomeWords, type Span, spans } from '../../words/jobs/timeline.ts';

/** Attempts on one time axis, with resource usage and outcome. */
export function AttemptTimeline({ attempts }: { attempts: readonly AttemptView[] }) {
  const now = useNow();
  const drawn = spans(attempts, now);
  const { data: workers = [] } = useQuery(workersQuery());
  return (
    <Rows
      caption="Attempts, oldest first"
      rows={attempts}
      keyOf={({ claim }) => String(claim)}
      columns={[
        { title: 'Attempt', kind: 'number', cell: ({ number }) => number },
        attempts.length > 1 && {
          title: 'Timeline',
          kind: 'track',
          titled: 'in-head',
          cell: (attempt) => <Track attempt={attempt} span={drawn[attempts.indexOf(attempt)]} />,
        },
        { title: 'Started', kind: 'short', cell: ({ startedAt }) => <Moment at={startedAt} /> },
        {
          title: 'Duration',
          kind: 'number',
          cell: ({ durationMs, startedAt }) =>
            durationMs === null ? timeSince(startedAt, now) : duration(durationMs),
        },
        {
          title: 'Worker',
          titled: 'in-head',
          cell: (attempt) => usage(attempt, workers),
        },
        { title: 'Outcome', kind: 'wide', titled: 'in-head', cell: ending },
      ]}
    />
  );
}

/** Position on the time axis; a single attempt has none. */
function Track({ attempt, span }: { attempt: AttemptView; span: Span | undefined }) {
  return (
    <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
      <rect
        className={`span span-${toneOf(attempt)}`}
        x={span?.left}
        width={span?.width}
        height="8"
      />
    </svg>
  );
}

function toneOf({ outcome, error }: AttemptView): 'running' | 'failed' | 'good' | 'stopped' {
  if (outcome === null) return 'running';
  if (error !== null) return 'failed';
  return outcome === 'succeeded' ? 'good' : 'stopped';
}

/** Worker, process and resource usage, as far as known. */
function usage(
  { workerId, pid, peakRssBytes, cpuMs }: AttemptView,
  workers: readonly WorkerView[],
): string {
  const host = workers.find((worker) => worker.workerId === workerId)?.host ?? null;
  return [
    host,
    pid === null ? null : `pid ${pid}`,
    peakRssBytes === null ? null : bytes(peakRssBytes),
    cpuMs === null ? null : `${duration(cpuMs)} CPU`,
  ]
    .filter((part) => part !== null)
    .join(' · ');
}

function ending(attempt: AttemptView) {
  const { error, exitCode, signal } = attempt;
  const process = signal ?? (exitCode === null || exitCode === 0 ? null : `exit code ${exitCode}`);
  if (error === null) return `${outcomeWords(attempt)}${process === null ? '' : ` (${process})`}`;
  return (
    <span className="remark bad" title={plainText(error.message)}>
      {error.code} {plainText(error.message)}
      {process === null ? '' : ` (${process})`}
    </span>
  );
}
