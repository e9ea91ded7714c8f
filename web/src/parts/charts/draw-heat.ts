import uPlot from 'uplot';
import { edgeWords, type Heat, strengthOf } from '../../words/charts/heat.ts';
import { colourOf, type PlotEvents, plotOptions, type PlotTime } from './plot.ts';

const LABELS_MAX = 6;

/** Rows have the same height, so the scale of durations is logarithmic like their buckets. */
export function drawHeat(
  element: HTMLElement,
  heat: Heat,
  time: PlotTime,
  events: PlotEvents,
): uPlot {
  const { x, timeAxis, axis, hooks, markDeploys, ...options } = plotOptions(element, time, events);
  const { rows } = heat;
  const every = Math.max(1, Math.ceil(rows.length / LABELS_MAX));
  const splits = Array.from({ length: rows.length + 1 }, (_, at) => at).filter(
    (at) => at % every === 0,
  );
  return new uPlot(
    {
      ...options,
      scales: { x, y: { range: () => [0, Math.max(1, rows.length)] } },
      axes: [
        timeAxis,
        {
          ...axis,
          size: 52,
          splits: () => splits,
          values: (_, values) => values.map((at) => edgeWords(rows, at)),
        },
      ],
      series: [{}, { paths: () => null, points: { show: false } }],
      cursor: { ...options.cursor, points: { show: false } },
      hooks: { ...hooks, draw: [(chart) => fill(chart, heat, time, element), markDeploys] },
    },
    [[...time.times], time.times.map(() => 0)],
    element,
  );
}

function fill(
  chart: uPlot,
  { counts, most }: Heat,
  { times, stepMs }: PlotTime,
  element: HTMLElement,
) {
  const { ctx } = chart;
  const half = stepMs / 2_000;
  const gap = uPlot.pxRatio;
  ctx.save();
  ctx.fillStyle = colourOf(element, 'line-heat');
  for (const [step, at] of times.entries()) {
    const left = chart.valToPos(at - half, 'x', true);
    const width = chart.valToPos(at + half, 'x', true) - left;
    for (const [row, count] of (counts[step] ?? []).entries()) {
      if (count === 0) continue;
      const top = chart.valToPos(row + 1, 'y', true);
      const height = chart.valToPos(row, 'y', true) - top;
      ctx.globalAlpha = strengthOf(count, most);
      ctx.fillRect(left, top, Math.max(1, width - gap), Math.max(1, height - gap));
    }
  }
  ctx.restore();
}
