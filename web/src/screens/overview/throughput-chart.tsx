import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import type { Throughput } from '../../../../src/core/views/stats.ts';
import { usePreference } from '../../runtime/preference.ts';
import { theme } from '../../runtime/theme.ts';
import type { Deploy } from '../../words/alerts/deploys.ts';
import { clockTime } from '../../words/moment.ts';
import { OUTCOMES, piled, throughputWords } from '../../words/alerts/throughput.ts';

const HEIGHT = 170;
const WHOLE_STEPS = [1, 10, 100, 1e3, 1e4, 1e5, 1e6].flatMap((ten) => [ten, 2 * ten, 5 * ten]);

export function ThroughputChart({
  throughput,
  deploys,
}: {
  throughput: Throughput;
  deploys: readonly Deploy[];
}) {
  const box = useRef<HTMLDivElement>(null);
  const [chosen] = usePreference(theme);
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    let chart = draw(element, throughput, deploys);
    const again = () => {
      chart.destroy();
      chart = draw(element, throughput, deploys);
    };
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', again);
    const watch = new ResizeObserver(() =>
      chart.setSize({ width: element.clientWidth, height: HEIGHT }),
    );
    watch.observe(element);
    return () => {
      dark.removeEventListener('change', again);
      watch.disconnect();
      chart.destroy();
    };
  }, [throughput, deploys, chosen]);
  return <div ref={box} className="chart" role="img" aria-label={throughputWords(throughput)} />;
}

/** Stacked bars: the highest sum is drawn first, lower ones over it. */
function draw(element: HTMLElement, throughput: Throughput, deploys: readonly Deploy[]): uPlot {
  const { times, heights } = piled(throughput);
  const bars = uPlot.paths.bars?.({ size: [0.8, 14] });
  const series = OUTCOMES.toReversed().map((outcome) => ({
    fill: colourOf(element, `outcome-${outcome}`),
    width: 0,
    points: { show: false },
    ...(bars && { paths: bars }),
  }));
  const halfStep = throughput.stepMs / 2_000;
  const axis = {
    stroke: colourOf(element, 'soft'),
    grid: { stroke: colourOf(element, 'rule'), width: 1 },
    ticks: { show: false },
  };
  return new uPlot(
    {
      width: Math.max(1, element.clientWidth),
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      scales: {
        // Half a step more on both sides, so that the first and last bar are complete.
        x: { range: (_, first, last) => [first - halfStep, last + halfStep] },
        y: { range: (_, __, most) => [0, Math.max(1, most)] },
      },
      axes: [
        { ...axis, size: 30, values: (_, seconds) => seconds.map(hourAndMinute) },
        // Whole numbers only.
        { ...axis, size: 56, space: 24, incrs: WHOLE_STEPS },
      ],
      series: [{}, ...series],
      hooks: { draw: [(chart) => markDeploys(chart, deploys, colourOf(element, 'deploy'))] },
    },
    [times, ...heights.toReversed()],
    element,
  );
}

function markDeploys(chart: uPlot, deploys: readonly Deploy[], colour: string): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.lineWidth = 2;
  ctx.setLineDash([5, 4]);
  for (const { at } of deploys) {
    const x = chart.valToPos(Date.parse(at) / 1_000, 'x', true);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

/** A canvas has no style sheet, so the colour is read from a probe element. */
function colourOf(element: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.className = name;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function hourAndMinute(seconds: number): string {
  return clockTime(new Date(seconds * 1_000).toISOString()).slice(0, 5);
}
