import { useMemo } from 'react';
import type { SeriesView } from '../../../../src/core/series/series.ts';
import type { Deploy } from '../../words/alerts/deploys.ts';
import { type ChartModel, chartModels, isEmpty, timesOf } from '../../words/charts/chart.ts';
import { duringWords } from '../../words/charts/range.ts';
import { heatOf } from '../../words/charts/heat.ts';
import { Panel } from '../panel.tsx';
import { HeatMap } from './heat-map.tsx';
import { LineChart } from './line-chart.tsx';
import type { PlotEvents, PlotTime } from './plot.ts';

/** All charts of a series; loaded with uPlot, apart from the rest of the dashboard. */
export function ChartGrid({
  series,
  deploys,
  during,
  onZoom,
}: {
  series: SeriesView;
  deploys: readonly Deploy[];
  during: string;
  onZoom: PlotEvents['onZoom'];
}) {
  const models = useMemo(() => chartModels(series, during), [series, during]);
  const time = useMemo<PlotTime>(
    () => ({ times: timesOf(series), stepMs: series.stepMs, deploys }),
    [series, deploys],
  );
  const heat = useMemo(
    () => (series.histograms === null ? null : heatOf(series.histograms.run)),
    [series],
  );
  return (
    <div className={heat === null ? 'charts wide-first' : 'charts'}>
      {models.map((model) => (
        <Panel key={model.name} title={model.title} aside={<Legend model={model} />}>
          {isEmpty(model) ? (
            <p className="chart soft none-yet">{nothingWords(model, during)}</p>
          ) : (
            <LineChart model={model} time={time} onZoom={onZoom} />
          )}
        </Panel>
      ))}
      {heat !== null && (
        <Panel title="Run time heat map" aside="stronger colour: more attempts">
          {heat.rows.length === 0 ? (
            <p className="chart soft none-yet">No attempt ended {duringWords(during)}.</p>
          ) : (
            <HeatMap heat={heat} time={time} during={during} onZoom={onZoom} />
          )}
        </Panel>
      )}
    </div>
  );
}

function Legend({ model: { lines, legend } }: { model: ChartModel }) {
  return (
    <>
      <span className="legend-range">{legend}:</span>
      {lines.map(({ name, tone, total }) => (
        <span key={name} className={`legend ${tone}`}>
          {name} {total}
        </span>
      ))}
    </>
  );
}

function nothingWords({ name }: ChartModel, during: string): string {
  const when = duringWords(during);
  if (name === 'wait') return `No attempt started ${when}.`;
  return name === 'retries' ? `No automatic retry ${when}.` : `No attempt ended ${when}.`;
}
