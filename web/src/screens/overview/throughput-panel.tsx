import { lazy, Suspense, useMemo, useState } from 'react';
import type { PublishedDefinition } from '../../../../src/client/job.ts';
import type { Throughput } from '../../../../src/core/views/stats.ts';
import { Panel } from '../../parts/panel.tsx';
import { deploysIn, deployWords } from '../../words/alerts/deploys.ts';
import { clockTime } from '../../words/moment.ts';
import { OUTCOMES, sumOf } from '../../words/alerts/throughput.ts';

/** Who has no chart has the numbers: it is another file, and some browsers cannot run it. */
const Chart = lazy(async () => {
  try {
    return { default: (await import('./throughput-chart.tsx')).ThroughputChart };
  } catch {
    return { default: Numbers };
  }
});

const DEPLOYS_SHOWN = 3;

/** How jobs ended, minute by minute; as numbers for who wants them, or cannot see it. */
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
        title="Throughput: how jobs ended, each minute of the last hour"
        aside={
          <>
            {OUTCOMES.map((outcome) => (
              <span key={outcome} className={`legend outcome-${outcome}`}>
                {outcome} {sumOf(throughput[outcome]).toLocaleString('en')}
              </span>
            ))}{' '}
            {!isEmpty && (
              <button type="button" className="small" onClick={() => setAsTable(!asTable)}>
                {asTable ? 'As a chart' : 'As a table'}
              </button>
            )}
          </>
        }
      >
        {isEmpty ? (
          <p className="soft">No job has ended in the last hour.</p>
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
        <caption className="visually-hidden">How jobs ended, by minute, the newest first</caption>
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
