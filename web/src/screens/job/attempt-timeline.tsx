import { duration } from '../../../../src/core/duration.ts';
import type { AttemptView } from '../../../../src/core/story.ts';
import { Moment } from '../../parts/moment.tsx';
import { useNow } from '../../runtime/clock.ts';
import { plainText } from '../../words/log-tail.ts';
import { bytes } from '../../words/moment.ts';
import { spans } from '../../words/timeline.ts';

/** Each run of the job, drawn on one line of time, with what its process left behind. */
export function AttemptTimeline({ attempts }: { attempts: readonly AttemptView[] }) {
  const now = useNow();
  const drawn = spans(attempts, now);
  return (
    <div className="scroll">
      <table className="rows attempts">
        <caption className="visually-hidden">Attempts, the first one first</caption>
        <thead>
          <tr>
            <th scope="col" className="number">
              Try
            </th>
            <th scope="col" className="track-head">
              When
            </th>
            <th scope="col">Began</th>
            <th scope="col" className="number">
              Took
            </th>
            <th scope="col">Process</th>
            <th scope="col">How it ended</th>
          </tr>
        </thead>
        <tbody>
          {attempts.map((attempt, index) => (
            <tr key={attempt.claim}>
              <td className="number">{attempt.number}</td>
              <td className="track">
                <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
                  <rect
                    className={`span span-${outcome(attempt)}`}
                    x={drawn[index]?.left}
                    width={drawn[index]?.width}
                    y="0"
                    height="8"
                  />
                </svg>
              </td>
              <td className="nowrap">
                <Moment at={attempt.startedAt} />
              </td>
              <td className="number nowrap">
                {attempt.durationMs === null ? '…' : duration(attempt.durationMs)}
              </td>
              <td className="nowrap">{usage(attempt)}</td>
              <td className="wide">{ending(attempt)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function outcome({ finishedAt, error }: AttemptView): 'running' | 'failed' | 'good' {
  if (finishedAt === null) return 'running';
  return error === null ? 'good' : 'failed';
}

function usage({ pid, peakRssBytes, cpuMs }: AttemptView): string {
  return [
    pid === null ? null : `pid ${pid}`,
    peakRssBytes === null ? null : bytes(peakRssBytes),
    cpuMs === null ? null : `${duration(cpuMs)} CPU`,
  ]
    .filter((part) => part !== null)
    .join(' · ');
}

function ending({ finishedAt, error, exitCode, signal }: AttemptView) {
  if (finishedAt === null) return 'running';
  const process = signal ?? (exitCode === null || exitCode === 0 ? null : `exit code ${exitCode}`);
  if (error === null) return process === null ? 'well' : process;
  return (
    <span className="remark bad" title={plainText(error.message)}>
      {error.code} {plainText(error.message)}
      {process === null ? '' : ` (${process})`}
    </span>
  );
}
