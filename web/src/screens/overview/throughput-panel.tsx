import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import type { Throughput } from '../../api/signal-queries.ts';
import { Panel } from '../../parts/panel.tsx';
import { usePreference } from '../../runtime/preference.ts';
import { theme } from '../../runtime/theme.ts';
import { clockTime } from '../../words/moment.ts';
import { OUTCOMES, piled, sumOf, throughputWords } from '../../words/throughput.ts';

const HEIGHT = 170;

/** How jobs ended, minute by minute; as numbers for who wants them, or cannot see it. */
export function ThroughputPanel({ throughput }: { throughput: Throughput }) {
  const [asTable, setAsTable] = useState(false);
  return (
    <div className="above">
      <Panel
        title="Throughput"
        aside={
          <>
            {OUTCOMES.map((outcome) => (
              <span key={outcome} className={`legend outcome-${outcome}`}>
                {outcome} {sumOf(throughput[outcome]).toLocaleString('en')}
              </span>
            ))}{' '}
            <button type="button" className="small" onClick={() => setAsTable(!asTable)}>
              {asTable ? 'As a chart' : 'As a table'}
            </button>
          </>
        }
      >
        {asTable ? <Numbers throughput={throughput} /> : <Chart throughput={throughput} />}
      </Panel>
    </div>
  );
}

function Chart({ throughput }: { throughput: Throughput }) {
  const box = useRef<HTMLDivElement>(null);
  const [chosen] = usePreference(theme);
  useEffect(() => {
    const place = box.current;
    if (!place) return undefined;
    let chart = draw(place, throughput);
    const again = () => {
      chart.destroy();
      chart = draw(place, throughput);
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
  }, [throughput, chosen]);
  return <div ref={box} className="chart" role="img" aria-label={throughputWords(throughput)} />;
}

/** The highest pile is drawn first, and each lower one over it. */
function draw(place: HTMLElement, throughput: Throughput): uPlot {
  const { times, heights } = piled(throughput);
  const bars = uPlot.paths.bars?.({ size: [0.8, 14] });
  const series = OUTCOMES.toReversed().map((outcome) => ({
    fill: colourOf(place, `outcome-${outcome}`),
    width: 0,
    points: { show: false },
    ...(bars && { paths: bars }),
  }));
  const axis = { stroke: colourOf(place, 'soft'), grid: { stroke: colourOf(place, 'rule') } };
  return new uPlot(
    {
      width: Math.max(1, place.clientWidth),
      height: HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      scales: { y: { range: (_, __, most) => [0, Math.max(1, most)] } },
      axes: [
        { ...axis, ticks: { show: false } },
        { ...axis, ticks: { show: false }, size: 56 },
      ],
      series: [{}, ...series],
    },
    [times, ...heights.toReversed()],
    place,
  );
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
