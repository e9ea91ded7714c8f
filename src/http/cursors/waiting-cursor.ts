import { isJobId } from '../../core/job/job-id.ts';
import type { WaitingCursor, WaitingSort } from '../../store/read/list-waiting.ts';
import { foreignCursor } from './cursor.ts';

/** The opaque cursor of waiting jobs; contains its sort. */
export function makeWaitingCursor(sort: WaitingSort, { a, b, id }: WaitingCursor): string {
  return Buffer.from(`${sort} ${a} ${b} ${id}`).toString('base64url');
}

export function readWaitingCursor(cursor: string, sort: WaitingSort): WaitingCursor {
  const [, first, second, id = ''] = Buffer.from(cursor, 'base64url').toString().split(' ');
  const read = { a: Number(first), b: Number(second), id };
  const ours =
    Number.isSafeInteger(read.a) &&
    Number.isSafeInteger(read.b) &&
    (sort === 'runAt' || Math.abs(read.a) <= 2_147_483_648) &&
    isJobId(id);
  if (!ours || makeWaitingCursor(sort, read) !== cursor) throw foreignCursor();
  return read;
}
