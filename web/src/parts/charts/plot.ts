import uPlot from 'uplot';
import type { Deploy } from '../../words/alerts/deploys.ts';
import { axisTimes } from '../../words/charts/axis-time.ts';
import { shownZone } from '../../words/zone.ts';

/** What all charts of a screen share: the time axis, marks of deploys, hovering and zooming. */
export const HEIGHT = 150;

export interface PlotTime {
  /** In seconds. */
  times: readonly number[];
  stepMs: number;
  deploys: readonly Deploy[];
  /** Labels of the points themselves, instead of times on the axis. */
  labels?: readonly string[];
}

/** The point below the pointer; `y` is a value of the y scale. */
export interface Hover {
  at: number;
  left: number;
  y: number;
}

export interface PlotEvents {
  onHover: (hover: Hover | null) => void;
  onZoom: (fromMs: number, toMs: number) => void;
}

/** Pointers of all charts move together; a drag is of one chart only. */
const SHARED = new Set(['mousemove', 'mouseleave', 'mouseenter']);

export function plotOptions(
  element: HTMLElement,
  { times, stepMs, deploys, labels }: PlotTime,
  { onHover, onZoom }: PlotEvents,
) {
  const halfStep = stepMs / 2_000;
  const first = times[0] ?? 0;
  const last = times.at(-1) ?? 1;
  const axis = {
    stroke: colourOf(element, 'soft'),
    grid: { stroke: colourOf(element, 'rule'), width: 1 },
    ticks: { show: false },
    font: '11px sans-serif',
  };
  const options = {
    width: Math.max(1, element.clientWidth),
    height: HEIGHT,
    // Ticks are at full hours and days of this zone.
    tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1_000), shownZone()),
    padding: [12, 22, 0, 0] as [number, number, number, number],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: false },
      sync: {
        key: 'charts',
        setSeries: false,
        scales: ['x', null] as [string, null],
        filters: { pub: (type: string) => SHARED.has(type), sub: () => true },
      },
    },
    // Half a step more on both sides, so that the first and last bar are complete.
    x: { time: true, range: (): [number, number] => [first - halfStep, last + halfStep] },
    timeAxis: {
      ...axis,
      size: 26,
      space: 60,
      values: (_: uPlot, seconds: number[]) =>
        labels ? seconds.map((at) => labels[times.indexOf(at)] ?? '') : axisTimes(seconds),
      ...(labels && { splits: (chart: uPlot) => someOf(times, chart.width) }),
    },
    axis,
    hooks: {
      setCursor: [(chart: uPlot) => onHover(hoverOf(chart))],
      setSelect: [
        (chart: uPlot) => {
          const { left, width } = chart.select;
          if (width < 4) return;
          const msAt = (x: number) => Math.round(chart.posToVal(x, 'x') * 1_000);
          onZoom(msAt(left), msAt(left + width));
        },
      ],
    },
    markDeploys: (chart: uPlot) => markDeploys(chart, deploys, element),
  };
  return options;
}

const LABEL_PX = 70;

/** As many points as have room for a label, the last one among them. */
function someOf(times: readonly number[], width: number): number[] {
  const every = Math.max(1, Math.ceil((times.length * LABEL_PX) / Math.max(1, width)));
  return times.filter((_, at) => (times.length - 1 - at) % every === 0);
}

/** Null in a chart whose pointer only follows that of another. */
function hoverOf(chart: uPlot): Hover | null {
  const { idx, left = -1, top = -1 } = chart.cursor;
  if (idx === null || idx === undefined || left < 0 || !chart.over.matches(':hover')) return null;
  return { at: idx, left: left + chart.over.offsetLeft, y: chart.posToVal(top, 'y') };
}

/** A dashed line with a flag above the bars, on a ground of its own so that bars do not hide it. */
function markDeploys(chart: uPlot, deploys: readonly Deploy[], element: HTMLElement): void {
  const { ctx, bbox } = chart;
  const unit = uPlot.pxRatio;
  ctx.save();
  for (const { at } of deploys) {
    const x = chart.valToPos(Date.parse(at) / 1_000, 'x', true);
    const line = (colour: string, width: number, dash: number[]) => {
      ctx.strokeStyle = colour;
      ctx.lineWidth = width * unit;
      ctx.setLineDash(dash.map((length) => length * unit));
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    };
    line(colourOf(element, 'chart-ground'), 3, []);
    line(colourOf(element, 'deploy'), 2, [4, 3]);
    ctx.fillStyle = colourOf(element, 'deploy');
    ctx.beginPath();
    ctx.moveTo(x - 5 * unit, bbox.top - 9 * unit);
    ctx.lineTo(x + 5 * unit, bbox.top - 9 * unit);
    ctx.lineTo(x, bbox.top);
    ctx.fill();
  }
  ctx.restore();
}

/** A canvas has no style sheet, so the colour is read from a probe element. */
export function colourOf(element: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.className = name;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
