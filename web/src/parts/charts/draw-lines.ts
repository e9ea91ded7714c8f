import uPlot from 'uplot';
import { axisWords, type ChartModel, heightsOf } from '../../words/charts/chart.ts';
import { colourOf, type PlotEvents, plotOptions, type PlotTime } from './plot.ts';

const TENS = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8];
const WHOLE_STEPS = TENS.flatMap((ten) => [ten, 2 * ten, 5 * ten]);
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const TIME_STEPS = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND_MS),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 6, 12, 24].map((hours) => hours * HOUR_MS),
];

/** Stacked bars, an area or lines. */
export function drawLines(
  element: HTMLElement,
  model: ChartModel,
  time: PlotTime,
  events: PlotEvents,
): uPlot {
  const { x, timeAxis, axis, hooks, markDeploys, ...options } = plotOptions(element, time, events);
  const { kind, unit, lines } = model;
  const bars = uPlot.paths.bars?.({ size: [0.8, 40] });
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  const series = lines.map(({ tone }) => {
    const colour = colourOf(element, tone);
    if (kind === 'bars') {
      return { fill: colour, width: 0, points: { show: false }, ...(bars && { paths: bars }) };
    }
    const line = { stroke: colour, width: 1.5, points: { show: kind === 'lines', size: 3 } };
    if (kind === 'lines') return { ...line, spanGaps: false };
    return { ...line, fill: colourOf(element, `${tone}-wash`), ...(stepped && { paths: stepped }) };
  });
  // The highest sum of a stack is drawn first, lower ones over it.
  const turned = <T>(list: T[]) => (kind === 'bars' ? list.toReversed() : list);
  return new uPlot(
    {
      ...options,
      scales: { x, y: { range: (_, __, most) => [0, Math.max(1, most * 1.05)] } },
      axes: [
        timeAxis,
        {
          ...axis,
          size: 52,
          space: 24,
          incrs: unit === 'ms' ? TIME_STEPS : WHOLE_STEPS,
          values: (_, values) => values.map((value) => axisWords(unit, value)),
        },
      ],
      series: [{}, ...turned(series)],
      cursor: { ...options.cursor, points: { show: kind === 'lines' } },
      hooks: { ...hooks, draw: [markDeploys] },
    },
    [[...time.times], ...turned(heightsOf(model))],
    element,
  );
}
