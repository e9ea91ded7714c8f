/**
 * A place in what a job wrote, or in what happened to it: three counters, the coarsest first. As text
 * it is the id of a line or an event, after which a reader can go on. No clock is in it, so a place
 * that is written later is always a later place.
 */
export type HistoryPosition = readonly [number, number, number];

const SHAPE = /^(0|[1-9]\d{0,9})-(0|[1-9]\d{0,9})-(0|[1-9]\d{0,9})$/;
/** More than anything counts to, and still an integer of the database when one is added. */
const COUNT_MAX = 2_000_000_000;

export function positionText(position: HistoryPosition): string {
  return position.join('-');
}

/** Null when the text is no place: it did not come from here. */
export function parsePosition(text: string): HistoryPosition | null {
  const counts = SHAPE.exec(text)?.slice(1).map(Number);
  if (!counts || Math.max(...counts) > COUNT_MAX) return null;
  const [first = 0, second = 0, third = 0] = counts;
  return [first, second, third];
}

export function comparePositions(a: HistoryPosition, b: HistoryPosition): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}
