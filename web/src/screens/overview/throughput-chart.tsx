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
    const place = box.current;
    if (!place) return undefined;
    let chart = draw(place, throughput, deploys);
    const again = () => {
      chart.destroy();
      chart = draw(place, throughput, deploys);
    };
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', again);
    const watch = new ResizeObserver(() =>
      chart.setSize({ width: place.clientWidth, height: HEIGHT }),
    );
    watch.observe(place);
    return () => {
      dark.removeEventListener('change', again);
      watch.disconnect();
      chart.destroy();
    };
  }, [throughput, deploys, chosen]);
  return <div ref={box} className="chart" role="img" aria-label={throughputWords(throughput)} />;
}

/** The highest pile is drawn first, and each lower one over it. */
function draw(place: HTMLElement, throughput: Throughput, deploys: readonly Deploy[]): uPlot {
  const { times, heights } = piled(throughput);
  const bars = uPlot.paths.bars?.({ size: [0.8, 14] });
  const series = OUTCOMES.toReversed().map((outcome) => ({
    fill: colourOf(place, `outcome-${outcome}`),
    width: 0,
    points: { show: false },
    ...(bars && { paths: bars }),
  }));
  const halfStep = throughput.stepMs / 2_000;
  const axis = {
    stroke: colourOf(place, 'soft'),
    grid: { stroke: colourOf(place, 'rule'), width: 1 },
    ticks: { show: false },
  };
  return new uPlot(
    {
      width: Math.max(1, place.clientWidth),
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      scales: {
        // The first and the last bar are whole ones, too.
        x: { range: (_, first, last) => [first - halfStep, last + halfStep] },
        y: { range: (_, __, most) => [0, Math.max(1, most)] },
      },
      axes: [
        { ...axis, size: 30, values: (_, seconds) => seconds.map(hourAndMinute) },
        // Nobody has a quarter of a job.
        { ...axis, size: 56, space: 24, incrs: WHOLE_STEPS },
      ],
      series: [{}, ...series],
      hooks: { draw: [(chart) => markDeploys(chart, deploys, colourOf(place, 'deploy'))] },
    },
    [times, ...heights.toReversed()],
    place,
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

/** A canvas knows no style sheet, so it is asked what the names of colours are today. */
function colourOf(place: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.className = name;
  place.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function hourAndMinute(seconds: number): string {
  return clockTime(new Date(seconds * 1_000).toISOString()).slice(0, 5);
}
