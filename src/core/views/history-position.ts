/**
 * A position in the log or the history of a job: three counters, the coarsest first. As text it is
 * the id of a line or an event, and a cursor. It contains no clock, so a later write always has a
 * later position.
 */
export type HistoryPosition = readonly [number, number, number];

const SHAPE = /^(0|[1-9]\d{0,9})-(0|[1-9]\d{0,9})-(0|[1-9]\d{0,9})$/;
/** Above any count, and still an integer of the database after adding one. */
const COUNT_MAX = 2_000_000_000;

export function positionText(position: HistoryPosition): string {
  return position.join('-');
}

/** Null when the text is not a position. */
export function parsePosition(text: string): HistoryPosition | null {
  const counts = SHAPE.exec(text)?.slice(1).map(Number);
  if (!counts || Math.max(...counts) > COUNT_MAX) return null;
  const [first = 0, second = 0, third = 0] = counts;
  return [first, second, third];
}

export function comparePositions(a: HistoryPosition, b: HistoryPosition): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}
