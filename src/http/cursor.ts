import { isJobId } from '../core/job-id.ts';
import type { JobSort } from '../protocol/job-query.ts';
import { Refusal } from '../protocol/refusal.ts';

/**
 * Where the next page begins, as one opaque word. It carries the sort it was made for: continued in
 * another order it would skip jobs without a sign.
 */
export function makeCursor(sort: JobSort, jobId: string): string {
  return Buffer.from(`${sort} ${jobId}`).toString('base64url');
}

export function readCursor(cursor: string, sort: JobSort): string {
  const [madeFor, jobId = ''] = Buffer.from(cursor, 'base64url').toString().split(' ');
  if (!isJobId(jobId) || makeCursor(madeFor as JobSort, jobId) !== cursor) {
    throw refused('is not a cursor of this API: take nextCursor as it was answered');
  }
  if (madeFor !== sort) throw refused(`was made for sort=${madeFor}: keep the sort while paging`);
  return jobId;
}

/** The same question with the next cursor, relative to this server (RFC 8288). */
export function nextLink(url: string, cursor: string): string {
  const [path = '', query = ''] = url.split('?', 2);
  const asked = new URLSearchParams(query);
  asked.set('cursor', cursor);
  return `<${path}?${asked.toString()}>; rel="next"`;
}

function refused(detail: string): Refusal {
  const errors = [{ pointer: '/cursor', detail }];
  return new Refusal('VALIDATION_FAILED', `/cursor: ${detail}`, { errors });
}
