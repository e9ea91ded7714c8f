import { type ReactNode, useEffect, useRef, useState } from 'react';
import type uPlot from 'uplot';
import { usePreference } from '../../runtime/preference.ts';
import { theme } from '../../runtime/theme.ts';
import { HEIGHT, type Hover, type PlotEvents } from './plot.ts';

/**
 * Draws a chart into a box and shows the values below the pointer. `draw` must be memoized: a new
 * function draws again. The pointer keeps its place then.
 */
export function PlotBox({
  label,
  draw,
  onZoom,
  children,
}: {
  label: string;
  draw: (element: HTMLElement, events: PlotEvents) => uPlot;
  onZoom: PlotEvents['onZoom'];
  /** What to show of a point. */
  children: (hover: Hover) => ReactNode;
}) {
  const box = useRef<HTMLDivElement>(null);
  const pointer = useRef({ left: -10, top: -10 });
  const [chosen] = usePreference(theme);
  const [hover, setHover] = useState<Hover | null>(null);
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    let chart: uPlot;
    const begin = () => {
      chart = draw(element, { onHover: setHover, onZoom });
      if (pointer.current.left >= 0) chart.setCursor(pointer.current);
    };
    const end = () => {
      const { left = -10, top = -10 } = chart.cursor;
      pointer.current = { left, top };
      chart.destroy();
    };
    const again = () => {
      end();
      begin();
    };
    begin();
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', again);
    const watch = new ResizeObserver(() =>
      chart.setSize({ width: Math.max(1, element.clientWidth), height: HEIGHT }),
    );
    watch.observe(element);
    return () => {
      dark.removeEventListener('change', again);
      watch.disconnect();
      end();
    };
  }, [draw, onZoom, chosen]);
  const shown = hover && children(hover);
  const isRight = hover !== null && hover.left > (box.current?.clientWidth ?? 0) / 2;
  return (
    <div className="plot">
      <div ref={box} className="chart" role="img" aria-label={label} />
      {hover && shown && (
        <div
          className="plot-values"
          data-side={isRight ? 'left' : 'right'}
          style={{ left: hover.left }}
          aria-hidden="true"
        >
          {shown}
        </div>
      )}
    </div>
  );
}
