import { foreignCursor } from './cursor.ts';

/** An opaque cursor of the next page of a list with positions. */
export function makePositionCursor(position: number): string {
  return Buffer.from(`position ${position}`).toString('base64url');
}

export function readPositionCursor(cursor: string): number {
  const [kind, digits = ''] = Buffer.from(cursor, 'base64url').toString().split(' ');
  if (kind !== 'position' || !/^\d{1,9}$/.test(digits)) throw foreignCursor();
  return Number(digits);
}
