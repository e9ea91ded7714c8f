import { type KeyboardEvent, useRef, useState } from 'react';
import { type Position, positionIn, type Range, ticksOf } from '../../words/job-page/axis.ts';
import {
  type Entry,
  entryWords,
  lengthWords,
  type Row,
  type Timeline,
} from '../../words/job-page/timeline.ts';

/**
 * Bars to scale. The bar under the pointer, or the focused one, is described below the chart. One
 * bar is in the tab order; the arrow keys move along the others.
 */
export function TimelineChart({ timeline, range }: { timeline: Timeline; range: Range }) {
  const [current, setCurrent] = useState<string | null>(null);
  const chart = useRef<HTMLDivElement>(null);
  const rows = timeline.rows
    .map((row) => ({ ...row, entries: row.entries.filter((one) => positionIn(one, range)) }))
    .filter(({ entries }) => entries.length > 0);
  const all = rows.flatMap(({ entries }) => entries);
  const shown = all.find(({ key }) => key === current);
  const tabbed = shown?.key ?? all[0]?.key;
  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const bars = [...(chart.current?.querySelectorAll<HTMLElement>('.bar') ?? [])];
    const index = bars.findIndex((bar) => bar === document.activeElement);
    bars[Math.min(Math.max(0, index + step), bars.length - 1)]?.focus();
  };
  return (
    <div className="timeline" ref={chart} role="group" aria-label="Timeline" onKeyDown={onKeyDown}>
      <Axis range={range} timeline={timeline} />
      {rows.map((row, index) => (
        <RowOfBars
          key={`${index} ${row.label}`}
          row={row}
          range={range}
          tabbed={tabbed}
          current={current}
          onCurrent={setCurrent}
        />
      ))}
      <p className="timeline-words">
        {shown ? entryWords(shown) : 'Point at a bar to see its times.'}
      </p>
    </div>
  );
}

const STEPS: Partial<Record<string, number>> = {
  ArrowRight: 1,
  ArrowDown: 1,
  ArrowLeft: -1,
  ArrowUp: -1,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

function Axis({ range, timeline }: { range: Range; timeline: Timeline }) {
  const { nowMs, fromMs } = timeline;
  const now = nowMs === null ? null : positionIn({ fromMs: nowMs, toMs: nowMs }, range);
  return (
    <div className="timeline-row timeline-axis" aria-hidden="true">
      <span />
      <div className="track">
        {ticksOf(range, fromMs).map(({ left, words }) => (
          <span key={words} className="time" style={{ left: `${left}%` }}>
            <span className={left > 92 ? 'before' : undefined}>{words}</span>
          </span>
        ))}
        {now !== null && now.left < 99.5 && (
          <span className="time time-now" style={{ left: `${now.left}%` }}>
            <span>now</span>
          </span>
        )}
      </div>
    </div>
  );
}

function RowOfBars({
  row,
  range,
  tabbed,
  current,
  onCurrent,
}: {
  row: Row;
  range: Range;
  tabbed: string | undefined;
  current: string | null;
  onCurrent: (key: string | null) => void;
}) {
  const only = row.entries.length === 1 ? row.entries[0] : undefined;
  return (
    <div className={`timeline-row${row.inner ? ' inner' : ''}`}>
      <span className="row-label" title={row.label}>
        {row.label}
      </span>
      <div className="track">
        {row.entries.map((entry) => (
          <Bar
            key={entry.key}
            entry={entry}
            position={positionIn(entry, range)}
            isTabbed={entry.key === tabbed}
            isCurrent={entry.key === current}
            onCurrent={onCurrent}
          />
        ))}
        {only && only.kind !== 'event' && (
          <LengthBeside entry={only} position={positionIn(only, range)} />
        )}
      </div>
    </div>
  );
}

const BAR_MIN_PX = 4;

function Bar({
  entry,
  position,
  isTabbed,
  isCurrent,
  onCurrent,
}: {
  entry: Entry;
  position: Position | null;
  isTabbed: boolean;
  isCurrent: boolean;
  onCurrent: (key: string | null) => void;
}) {
  if (position === null) return null;
  const show = () => onCurrent(entry.key);
  return (
    <span
      className={`bar bar-${entry.tone}${entry.open ? ' open' : ''}${isCurrent ? ' current' : ''}`}
      style={{
        left: `min(${position.left}%, calc(100% - ${BAR_MIN_PX}px))`,
        width: `max(${position.width}%, ${BAR_MIN_PX}px)`,
      }}
      role="img"
      aria-label={entryWords(entry)}
      tabIndex={isTabbed ? 0 : -1}
      onMouseEnter={show}
      onFocus={show}
      onClick={show}
    />
  );
}

/** The length of a bar that has its row to itself, where there is room. */
function LengthBeside({ entry, position }: { entry: Entry; position: Position | null }) {
  if (position === null) return null;
  const right = position.left + position.width;
  const style = right < 80 ? { left: `${right}%` } : { right: `${100 - position.left}%` };
  if (right >= 80 && position.left < 20) return null;
  return (
    <span className="bar-length" style={style} aria-hidden="true">
      {lengthWords(entry)}
    </span>
  );
}
