import { isJobId } from '../../core/job/job-id.ts';
import type { WaitingPlace, WaitingSort } from '../../store/read/list-waiting.ts';
import { foreignCursor } from './cursor.ts';

/** Where the next page of waiting jobs begins: like other cursors, it carries its sort. */
export function makePlaceCursor(sort: WaitingSort, { a, b, id }: WaitingPlace): string {
  return Buffer.from(`${sort} ${a} ${b} ${id}`).toString('base64url');
}

export function readPlaceCursor(cursor: string, sort: WaitingSort): WaitingPlace {
  const [, first, second, id = ''] = Buffer.from(cursor, 'base64url').toString().split(' ');
  const place = { a: Number(first), b: Number(second), id };
  const ours =
    Number.isSafeInteger(place.a) &&
    Number.isSafeInteger(place.b) &&
    (sort === 'runAt' || Math.abs(place.a) <= 2_147_483_648) &&
    isJobId(id);
  if (!ours || makePlaceCursor(sort, place) !== cursor) throw foreignCursor();
  return place;
}
