import { isJobId } from '../../core/job/job-id.ts';
import type { DeadLetterCursor } from '../../store/read/dead-letters.ts';
import { foreignCursor } from './cursor.ts';

/** The opaque cursor of dead letters. */
export function makeDeadLetterCursor({ at, id }: DeadLetterCursor): string {
  return Buffer.from(`${at}|${id}`).toString('base64url');
}

const TIME = /^\d{4,6}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{1,6})?$/;

export function readDeadLetterCursor(cursor: string): DeadLetterCursor {
  const [at = '', id = ''] = Buffer.from(cursor, 'base64url').toString().split('|');
  const ours = TIME.test(at) && !Number.isNaN(Date.parse(`${at}Z`)) && isJobId(id);
  if (!ours || makeDeadLetterCursor({ at, id }) !== cursor) throw foreignCursor();
  return { at, id };
}
