import { useCallback } from 'react';
import { countWords } from '../../words/charts/chart.ts';
import { type Heat, heatWords, rowWords } from '../../words/charts/heat.ts';
import { pointWords } from '../../words/charts/point.ts';
import { drawHeat } from './draw-heat.ts';
import { DeployLine } from './line-chart.tsx';
import { PlotBox } from './plot-box.tsx';
import type { PlotEvents, PlotTime } from './plot.ts';

export function HeatMap({
  heat,
  time,
  during,
  onZoom,
}: {
  heat: Heat;
  time: PlotTime;
  during: string;
  onZoom: PlotEvents['onZoom'];
}) {
  const draw = useCallback(
    (element: HTMLElement, events: PlotEvents) => drawHeat(element, heat, time, events),
    [heat, time],
  );
  return (
    <PlotBox label={heatWords(heat, during)} draw={draw} onZoom={onZoom}>
      {({ at, y }) => {
        const row = Math.floor(y);
        const range = heat.rows[row];
        if (!range) return null;
        return (
          <>
            <strong>{pointWords(time, at)}</strong>
            <span className="legend line-heat">
              {rowWords(range)} <b>{countWords(heat.counts[at]?.[row] ?? 0)}</b>
            </span>
            <DeployLine time={time} at={at} />
          </>
        );
      }}
    </PlotBox>
  );
}
