import { lazy, Suspense, useMemo, useState } from 'react';
import type { PublishedDefinition } from '../../../../src/client/job.ts';
import type { Throughput } from '../../../../src/core/views/stats.ts';
import { Panel } from '../../parts/panel.tsx';
import { deploysIn, deployWords } from '../../words/alerts/deploys.ts';
import { clockTime } from '../../words/moment.ts';
import { OUTCOMES, sumOf } from '../../words/alerts/throughput.ts';

/** The chart is a separate file; if it fails to load, the table is shown. */
const Chart = lazy(async () => {
  try {
    return { default: (await import('./throughput-chart.tsx')).ThroughputChart };
  } catch {
    return { default: Numbers };
  }
});

const DEPLOYS_SHOWN = 3;

/** Finished jobs per minute, as a chart or a table. */
export function ThroughputPanel({
  throughput,
  definitions,
}: {
  throughput: Throughput;
  definitions: readonly PublishedDefinition[];
}) {
  const deploys = useMemo(() => deploysIn(throughput, definitions), [throughput, definitions]);
  const [asTable, setAsTable] = useState(false);
  const isEmpty = OUTCOMES.every((outcome) => sumOf(throughput[outcome]) === 0);
  return (
    <div className="above">
      <Panel
        title="Throughput: finished attempts per minute, last hour"
        aside={
          <>
            {OUTCOMES.map((outcome) => (
              <span key={outcome} className={`legend outcome-${outcome}`}>
                {outcome} {sumOf(throughput[outcome]).toLocaleString('en')}
              </span>
            ))}{' '}
            {!isEmpty && (
              <button type="button" className="small" onClick={() => setAsTable(!asTable)}>
                {asTable ? 'Show chart' : 'Show table'}
              </button>
            )}
          </>
        }
      >
        {isEmpty ? (
          <p className="soft">No job has finished in the last hour.</p>
        ) : asTable ? (
          <Numbers throughput={throughput} />
        ) : (
          <Suspense fallback={<div className="chart" />}>
            <Chart throughput={throughput} deploys={deploys} />
          </Suspense>
        )}
        {deploys.length > 0 && (
          <p className="deploys">
            <span className="deploy">New definitions:</span>{' '}
            {deploys.slice(-DEPLOYS_SHOWN).map(deployWords).join(' · ')}
          </p>
        )}
      </Panel>
    </div>
  );
}

function Numbers({ throughput }: { throughput: Throughput }) {
  const fromMs = Date.parse(throughput.from);
  const minutes = throughput.succeeded.map((_, at) => at).toReversed();
  return (
    <div className="scroll numbers" tabIndex={0} role="group" aria-label="Throughput by minute">
      <table className="rows">
        <caption className="visually-hidden">Finished attempts by minute, newest first</caption>
        <thead>
          <tr>
            <th scope="col">Minute</th>
            {OUTCOMES.map((outcome) => (
              <th key={outcome} scope="col" className="number">
                {outcome}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {minutes.map((at) => (
            <tr key={at}>
              <td>{clockTime(new Date(fromMs + at * throughput.stepMs).toISOString())}</td>
              {OUTCOMES.map((outcome) => (
                <td key={outcome} className="number">
                  {throughput[outcome][at]}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
