import { conflictOf } from '../core/job/change-result.ts';
import { LINKS_MAX, linkUrl, newLink, type SignalLinkOptions } from '../core/signal/signal-link.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { Actor } from '../store/access/audit.ts';
import { createSignalLink, newLinkToken } from '../store/change/signal-links.ts';
import type { Db } from '../store/connection/db.ts';
import { getJob } from '../store/read/get-job.ts';
import { readWait } from '../store/change/signal-job.ts';
import { refuseMisfit } from './send-signal.ts';

export interface MadeSignalLink {
  jobId: string;
  signal: string;
  linkId: string;
  url: string;
  expiresAt: string;
}

/**
 * Makes a link with which anyone can send this signal once. The payloads of its choices must fit the
 * schema of the wait, if the job waits already. Null when there is no such job.
 */
export async function makeSignalLink(
  db: Db,
  tenant: string,
  { jobId, signal }: { jobId: string; signal: string },
  options: SignalLinkOptions,
  { baseUrl, by, now }: { baseUrl: string; by: Actor; now: Date },
): Promise<MadeSignalLink | null> {
  const job = await getJob(db, tenant, jobId);
  if (!job) return null;
  const wait = await readWait(db, job, signal);
  for (const [index, { payload }] of (wait ? (options.choices ?? []) : []).entries()) {
    refuseMisfit(wait?.schema, JSON.stringify(payload), `/choices/${index}/payload`);
  }
  const { token, hash } = newLinkToken(jobId);
  const link = newLink(signal, hash, options, now.getTime());
  const result = await createSignalLink(db, tenant, token, link, by);
  switch (result.kind) {
    case 'missing':
      return null;
    case 'stored':
      const expiresAt = new Date(link.expiresAtMs).toISOString();
      return { jobId, signal, linkId: token.linkId, url: linkUrl(baseUrl, token), expiresAt };
    case 'forbidden':
      throw new Refusal('FORBIDDEN', result.why);
    case 'parent':
    case 'refused':
      throw new Refusal('CONFLICT', conflictOf('signal', result));
    case 'decided':
      throw new Refusal('CONFLICT', `the job has the signal ${signal} already, or it timed out`);
    case 'too-many':
      throw new Refusal('CONFLICT', `a job has at most ${LINKS_MAX} links`);
  }
}
