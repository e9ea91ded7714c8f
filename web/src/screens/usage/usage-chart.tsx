import { useCallback, useMemo } from 'react';
import type { UsageView } from '../../../../src/core/usage/usage.ts';
import { drawLines } from '../../parts/charts/draw-lines.ts';
import { PlotBox } from '../../parts/charts/plot-box.tsx';
import type { PlotEvents } from '../../parts/charts/plot.ts';
import type { Measure } from '../../words/usage/usage-range.ts';
import { amountWords, shortDay, usageBars } from '../../words/usage/usage-words.ts';

const DAY_MS = 86_400_000;

/** A bar per day; loaded with uPlot, apart from the rest of the dashboard. */
export function UsageChart({
  usage,
  measure,
  during,
  onZoom,
}: {
  usage: UsageView;
  measure: Measure;
  during: string;
  /** Must be memoized. */
  onZoom: PlotEvents['onZoom'];
}) {
  const { model, days, times } = useMemo(
    () => usageBars(usage, measure, during),
    [usage, measure, during],
  );
  const draw = useCallback(
    (element: HTMLElement, events: PlotEvents) =>
      drawLines(
        element,
        model,
        { times, stepMs: DAY_MS, deploys: [], labels: days.map(shortDay) },
        events,
      ),
    [model, times, days],
  );
  return (
    <PlotBox label={model.summary} draw={draw} onZoom={onZoom}>
      {({ at }) => (
        <>
          <strong>{days[at]}</strong>
          {model.lines.map(({ name, tone, values }) => {
            const value = values[at] ?? 0;
            const amount = measure === 'jobs' ? value : value / 1_000;
            return (
              <span key={name} className={`legend ${tone}`}>
                {name} <b>{amountWords(measure, amount)}</b>
              </span>
            );
          })}
        </>
      )}
    </PlotBox>
  );
}
