import { figure } from '../harness/numbers.ts';

export interface Bar {
  label: string;
  value: number;
  min: number;
  max: number;
  /** Drawn in the strong colour. */
  ours: boolean;
}

export interface Panel {
  title: string;
  unit: string;
  bars: readonly Bar[];
}

const COLUMN = 440;
const GAP = 24;
const LABEL = 150;
const VALUE = 84;
const ROW = 22;
const HEAD = 34;
const FONT = "system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";

/** Readable on a light and on a dark page: the reader's preference selects the colours. */
const STYLE = `
  text { font: 13px ${FONT}; fill: #15202b; }
  .title { font-weight: 600; }
  .soft { fill: #51606f; }
  .peer { fill: #a9b6c4; }
  .ours { fill: #0a5ca8; }
  .range { stroke: #15202b; stroke-opacity: 0.55; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e4eaf1; }
    .soft { fill: #9cabbb; }
    .peer { fill: #4a5867; }
    .ours { fill: #6db5f8; }
    .range { stroke: #e4eaf1; }
  }`;

/** Panels of horizontal bars, two side by side, as the text of an SVG file. */
export function barChart(title: string, panels: readonly Panel[]): string {
  const columns = Math.min(2, panels.length);
  const width = columns * COLUMN + (columns - 1) * GAP;
  const parts: string[] = [];
  let top = 0;
  for (let first = 0; first < panels.length; first += columns) {
    const line = panels.slice(first, first + columns);
    parts.push(...line.map((panel, i) => drawPanel(panel, i * (COLUMN + GAP), top)));
    top += HEAD + Math.max(...line.map(({ bars }) => bars.length)) * ROW + GAP;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${top}" viewBox="0 0 ${width} ${top}" role="img" aria-label="${escape(title)}">
<style>${STYLE}
</style>
${parts.join('\n')}
</svg>
`;
}

function drawPanel({ title, unit, bars }: Panel, left: number, top: number): string {
  const most = Math.max(...bars.map(({ max }) => max));
  const scale = (value: number) => (value / most) * (COLUMN - LABEL - VALUE);
  const rows = bars.map((bar, i) => {
    const y = HEAD + i * ROW;
    const at = (value: number) => round(LABEL + scale(value));
    const middle = y + 7;
    return [
      `<text x="${LABEL - 8}" y="${y + 12}" text-anchor="end">${escape(bar.label)}</text>`,
      `<rect class="${bar.ours ? 'ours' : 'peer'}" x="${LABEL}" y="${y}" width="${round(scale(bar.value))}" height="14" rx="2"/>`,
      `<line class="range" x1="${at(bar.min)}" x2="${at(bar.max)}" y1="${middle}" y2="${middle}"/>`,
      `<text class="soft" x="${at(bar.max) + 6}" y="${y + 12}">${figure(bar.value)}</text>`,
    ].join('');
  });
  const head = `<text class="title" x="0" y="16">${escape(title)} <tspan class="soft">${escape(unit)}</tspan></text>`;
  return `<g transform="translate(${left} ${top})">${head}\n${rows.join('\n')}</g>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
