import { printable } from '../../core/values/printable.ts';

/** A table like kubectl's: no lines, two spaces between columns, as wide as the widest cell. */
export function columns(rows: readonly (readonly string[])[], widthMax = Infinity): string[] {
  const cells = rows.map((row) => row.map(printable));
  const widths: number[] = [];
  for (const row of cells) {
    for (const [index, cell] of row.entries()) {
      widths[index] = Math.max(widths[index] ?? 0, widthOf(cell));
    }
  }
  return cells.map((row) => {
    const padded = row.map((cell, index) => {
      const isLast = index === row.length - 1;
      return isLast ? cell : cell + ' '.repeat((widths[index] ?? 0) - widthOf(cell));
    });
    return clip(padded.join('  ').trimEnd(), widthMax);
  });
}

/** A terminal that wraps makes a table unreadable, so what is too long ends in an ellipsis. */
export function clip(text: string, widthMax: number): string {
  if (widthOf(text) <= widthMax) return text;
  let clipped = '';
  let width = 0;
  for (const { segment } of SEGMENTS.segment(text)) {
    width += widthOf(segment);
    if (width > widthMax - 1) break;
    clipped += segment;
  }
  return `${clipped}…`;
}

const SEGMENTS = new Intl.Segmenter('en', { granularity: 'grapheme' });
// East Asian wide and full-width letters, and emoji, take two places.
const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]/u;

/** How many places a text takes: what people see as one letter may be many code points. */
export function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of SEGMENTS.segment(text)) {
    width += WIDE.test(segment) || /\p{Emoji_Presentation}/u.test(segment) ? 2 : 1;
  }
  return width;
}
