import type { SeriesView } from '../../../../src/core/series/series.ts';
import { countWords, OUTCOMES, timesOf, timeWords } from '../../words/charts/chart.ts';
import { heatOf } from '../../words/charts/heat.ts';
import { pointWords } from '../../words/charts/point.ts';
import { HeatTable } from './heat-table.tsx';

const PERCENTILES = ['p50', 'p95', 'p99'] as const;

/** All charts as numbers, newest first. */
export function SeriesTable({ series }: { series: SeriesView }) {
  const times = timesOf(series);
  const time = { times, stepMs: series.stepMs };
  const steps = times.map((_, at) => at).toReversed();
  return (
    <>
      <div className="scroll numbers" tabIndex={0} role="group" aria-label="Charts as a table">
        <table className="rows">
          <caption className="visually-hidden">
            Finished attempts, queue depth and times by step, newest first
          </caption>
          <thead>
            <tr>
              <th scope="col">Time</th>
              <th scope="col" className="number">
                queued
              </th>
              {OUTCOMES.map((outcome) => (
                <th key={outcome} scope="col" className="number">
                  {outcome}
                </th>
              ))}
              {PERCENTILES.map((name) => (
                <th key={name} scope="col" className="number">
                  queue time {name}
                </th>
              ))}
              {PERCENTILES.map((name) => (
                <th key={name} scope="col" className="number">
                  duration {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {steps.map((at) => (
              <tr key={at}>
                <td className="moment">{pointWords(time, at)}</td>
                <td className="number">{countWords(series.depth[at] ?? 0)}</td>
                {OUTCOMES.map((outcome) => (
                  <td key={outcome} className="number">
                    {countWords(series[outcome][at] ?? 0)}
                  </td>
                ))}
                {PERCENTILES.map((name) => (
                  <td key={name} className="number">
                    {timeWords(series.waitMs[name][at] ?? null)}
                  </td>
                ))}
                {PERCENTILES.map((name) => (
                  <td key={name} className="number">
                    {timeWords(series.runMs[name][at] ?? null)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {series.histograms && <HeatTable heat={heatOf(series.histograms.run)} time={time} />}
    </>
  );
}
