import { useCallback } from 'react';
import { deployNames } from '../../words/alerts/deploys.ts';
import { type ChartModel, valueWords } from '../../words/charts/chart.ts';
import { pointWords } from '../../words/charts/point.ts';
import { drawLines } from './draw-lines.ts';
import { PlotBox } from './plot-box.tsx';
import type { PlotEvents, PlotTime } from './plot.ts';

export function LineChart({
  model,
  time,
  onZoom,
}: {
  model: ChartModel;
  time: PlotTime;
  onZoom: PlotEvents['onZoom'];
}) {
  const draw = useCallback(
    (element: HTMLElement, events: PlotEvents) => drawLines(element, model, time, events),
    [model, time],
  );
  return (
    <PlotBox label={model.summary} draw={draw} onZoom={onZoom}>
      {({ at }) => (
        <>
          <strong>{pointWords(time, at)}</strong>
          {model.lines.toReversed().map(({ name, tone, values }) => (
            <span key={name} className={`legend ${tone}`}>
              {name} <b>{valueWords(model.unit, values[at] ?? null)}</b>
            </span>
          ))}
          <DeployLine time={time} at={at} />
        </>
      )}
    </PlotBox>
  );
}

/** The deploys of a point. */
export function DeployLine({
  time: { deploys, times, stepMs },
  at,
}: {
  time: PlotTime;
  at: number;
}) {
  const begin = (times[at] ?? 0) * 1_000;
  const own = deploys.filter(({ at: deployedAt }) => {
    const ms = Date.parse(deployedAt);
    return ms >= begin && ms < begin + stepMs;
  });
  return own.map((deploy) => (
    <span key={deploy.at} className="deploy">
      {deployNames(deploy)}
    </span>
  ));
}
