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

/** Each run of the job, drawn on one line of time, with what its process left behind. */
export function AttemptTimeline({ attempts }: { attempts: readonly AttemptView[] }) {
  const now = useNow();
  const drawn = spans(attempts, now);
  const { data: workers = [] } = useQuery(workersQuery());
  return (
    <Rows
      caption="Attempts, the first one first"
      rows={attempts}
      keyOf={({ claim }) => String(claim)}
      columns={[
        { title: 'Try', kind: 'number', cell: ({ number }) => number },
        attempts.length > 1 && {
          title: 'When',
          kind: 'track',
          titled: 'in-head',
          cell: (attempt) => <Track attempt={attempt} span={drawn[attempts.indexOf(attempt)]} />,
        },
        { title: 'Began', kind: 'short', cell: ({ startedAt }) => <Moment at={startedAt} /> },
        {
          title: 'Took',
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

/** Where it lies between the first and the last. One alone would only say that it was there. */
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

/** Who ran it, as far as that is still known, and what it took there. */
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
