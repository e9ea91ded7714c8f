import { isJobId } from '../../core/job/job-id.ts';
import type { JobSort } from '../../protocol/requests/job-query.ts';
import { Refusal } from '../../protocol/refusal.ts';

/**
 * An opaque cursor of the next page. It contains its sort, because continuing in another order
 * would skip jobs.
 */
export function makeCursor(sort: JobSort, jobId: string): string {
  return Buffer.from(`${sort} ${jobId}`).toString('base64url');
}

export function readCursor(cursor: string, sort: JobSort): string {
  const [madeFor, jobId = ''] = Buffer.from(cursor, 'base64url').toString().split(' ');
  if (!isJobId(jobId) || makeCursor(madeFor as JobSort, jobId) !== cursor) throw refused(FOREIGN);
  if (madeFor !== sort) throw refused(`belongs to sort=${madeFor}: keep the sort while paging`);
  return jobId;
}

/** In a job's history the id of an entry is the cursor. */
export function readHistoryCursor(cursor: string, isId: (text: string) => boolean): string {
  if (!isId(cursor)) throw refused(FOREIGN);
  return cursor;
}

/** The last id that a disconnected reader has seen; browsers send it automatically. */
export function readLastEventId(header: string, isId: (text: string) => boolean): string {
  if (isId(header)) return header;
  const detail = 'Last-Event-ID is not an id of this stream: send the last id unchanged';
  throw new Refusal('VALIDATION_FAILED', detail, { errors: [{ pointer: '', detail }] });
}

/** The same request with the next cursor, relative to this server (RFC 8288). */
export function nextLink(url: string, cursor: string): string {
  const [path = '', query = ''] = url.split('?', 2);
  const asked = new URLSearchParams(query);
  asked.set('cursor', cursor);
  return `<${path}?${asked.toString()}>; rel="next"`;
}

const FOREIGN = 'is not a cursor of this API: use nextCursor unchanged';

export function foreignCursor(): Refusal {
  return refused(FOREIGN);
}

function refused(detail: string): Refusal {
  const errors = [{ pointer: '/cursor', detail }];
  return new Refusal('VALIDATION_FAILED', `/cursor: ${detail}`, { errors });
}
