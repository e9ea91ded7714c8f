import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { ChangeResult } from '../../core/job/change-result.ts';
import { isJobId, shardOfJobId } from '../../core/job/job-id.ts';
import { isTerminal, type JobState } from '../../core/job/job.ts';
import {
  isLinkEndStep,
  LINK_ID_BYTES,
  LINK_SECRET_BYTES,
  LINKS_MAX,
  linkEndStep,
  linkStep,
  type LinkToken,
  type SignalLink,
  storedLink,
} from '../../core/signal/signal-link.ts';
import { signalStep, timeoutStep } from '../../core/job/signal.ts';
import { changeRefusal } from '../../core/job/system-job.ts';
import { type Actor, audit } from '../access/audit.ts';
import { hashSecret } from '../access/keys.ts';
import { type Db, inTransaction, type Queryable, statement } from '../connection/db.ts';
import { withPartitions } from '../connection/partitions.ts';
import { LOCK_SIGNALLED, READ_STEP, STORE_SIGNAL } from './signal-job.ts';

/** How a link ended; null while it has not. An expired link has no row that says so. */
export interface LinkEnd {
  how: 'used' | 'revoked';
  at: Date;
}

export interface StoredSignalLink {
  linkId: string;
  link: SignalLink;
  end: LinkEnd | null;
}

/** A link with what its page needs to know. */
export interface OpenedLink extends StoredSignalLink {
  tenant: string;
  jobId: string;
  definitionKey: string;
  state: JobState;
}

export type LinkResult =
  | Exclude<ChangeResult, { kind: 'taken' | 'changed' }>
  | { kind: 'stored' }
  | { kind: 'too-many' }
  /** The job has the signal already, or its wait has timed out. */
  | { kind: 'decided' };

const LINKS = statement<{ name: string; valueJson: string; at: Date }>(
  'read_signal_links',
  `select name, value::text as "valueJson", at from longshore.step
   where shard = $1 and job_id = $2 and (name like 'link:%' or name like 'link-end:%')
   order by at limit 1000`,
);

const FIND = statement<{
  tenant: string | null;
  key: string | null;
  state: JobState | null;
  linkJson: string | null;
  endJson: string | null;
  endedAt: Date | null;
}>(
  'find_signal_link',
  `select (select q.tenant from longshore.queue q where q.shard = $1 and q.queue = j.queue) as tenant,
     (select q.key from longshore.queue q where q.shard = $1 and q.queue = j.queue) as key,
     coalesce(
       (select state from longshore.waiting where shard = $1 and id = $2),
       (select state from longshore.running where shard = $1 and id = $2),
       (select state from longshore.done where shard = $1 and id = $2)) as state,
     (select value::text from longshore.step
       where shard = $1 and job_id = $2 and name = $3) as "linkJson",
     (select value::text from longshore.step
       where shard = $1 and job_id = $2 and name = $4) as "endJson",
     (select at from longshore.step
       where shard = $1 and job_id = $2 and name = $4) as "endedAt"
   from longshore.job j where j.shard = $1 and j.id = $2`,
);

/** A new token, and the hash of its secret, which is stored. */
export function newLinkToken(jobId: string): { token: LinkToken; hash: string } {
  const linkId = randomBytes(LINK_ID_BYTES).toString('hex');
  const secret = randomBytes(LINK_SECRET_BYTES).toString('hex');
  return { token: { jobId, linkId, secret }, hash: hashSecret(secret).toString('hex') };
}

/** Stores a link to a job that has not ended. */
export async function createSignalLink(
  db: Db,
  tenant: string,
  { jobId, linkId }: Pick<LinkToken, 'jobId' | 'linkId'>,
  link: SignalLink,
  by: Actor,
): Promise<LinkResult> {
  if (!isJobId(jobId)) return { kind: 'missing' };
  const shard = shardOfJobId(jobId);
  const { signal } = link;
  return await withPartitions(db, async () =>
    inTransaction(db, async (tx): Promise<LinkResult> => {
      const [job] = await tx.run(LOCK_SIGNALLED, [shard, jobId, tenant]);
      if (!job?.state) return { kind: 'missing' };
      const why = changeRefusal(job.key, false);
      if (why !== null) return { kind: 'forbidden', why };
      if (isTerminal(job.state)) return { kind: 'refused', status: job.state };
      for (const step of [signalStep(signal), timeoutStep(signal)]) {
        const [known] = await tx.run(READ_STEP, [shard, jobId, step]);
        if (known) return { kind: 'decided' };
      }
      const rows = await tx.run(LINKS, [shard, jobId]);
      const links = rows.filter(({ name }) => !isLinkEndStep(name));
      if (links.length >= LINKS_MAX) return { kind: 'too-many' };
      const value = tx.vault.seal(tenant, JSON.stringify(link));
      await tx.run(STORE_SIGNAL, [shard, jobId, job.claim, linkStep(linkId), value]);
      const expiresAt = new Date(link.expiresAtMs).toISOString();
      const after = { signal, link: linkId, expiresAt };
      await audit(tx, by, { tenant, action: 'job.signal_link', subject: jobId, after });
      return { kind: 'stored' };
    }),
  );
}

/** The links of a job to a signal, the oldest first; null when there is no such job. */
export async function listSignalLinks(
  db: Queryable,
  tenant: string,
  jobId: string,
  signal: string,
): Promise<StoredSignalLink[] | null> {
  if (!isJobId(jobId)) return null;
  const [job] = await db.run(FIND, [shardOfJobId(jobId), jobId, '', '']);
  if (job?.tenant !== tenant) return null;
  const rows = await db.run(LINKS, [shardOfJobId(jobId), jobId]);
  return rows.flatMap(({ name, valueJson }) => {
    const linkId = name.slice(linkStep('').length);
    const link = name === linkStep(linkId) ? opened(db, tenant, valueJson) : null;
    if (link?.signal !== signal) return [];
    const ended = rows.find((row) => row.name === linkEndStep(linkId));
    return [{ linkId, link, end: ended ? endOf(db, tenant, ended.valueJson, ended.at) : null }];
  });
}

/** Null when there is no such link; else how it ended, which may be earlier. */
export async function revokeSignalLink(
  db: Db,
  tenant: string,
  { jobId, linkId }: Pick<LinkToken, 'jobId' | 'linkId'>,
  signal: string,
  by: Actor,
): Promise<'used' | 'revoked' | null> {
  if (!isJobId(jobId)) return null;
  const shard = shardOfJobId(jobId);
  return await withPartitions(db, async () =>
    inTransaction(db, async (tx) => {
      const [job] = await tx.run(LOCK_SIGNALLED, [shard, jobId, tenant]);
      const found = job?.state ? await find(tx, { jobId, linkId }) : null;
      if (!job || found?.link.signal !== signal) return null;
      if (found.end) return found.end.how;
      const value = tx.vault.seal(tenant, '"revoked"');
      await tx.run(STORE_SIGNAL, [shard, jobId, job.claim, linkEndStep(linkId), value]);
      const before = { signal, link: linkId };
      await audit(tx, by, { tenant, action: 'job.signal_link_revoke', subject: jobId, before });
      return 'revoked';
    }),
  );
}

/** The link with this secret; null when there is none. */
export async function openSignalLink(db: Queryable, token: LinkToken): Promise<OpenedLink | null> {
  if (!isJobId(token.jobId)) return null;
  const found = await find(db, token);
  if (!found) return null;
  const given = hashSecret(token.secret);
  const expected = Buffer.from(found.link.hash, 'hex');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  return found;
}

async function find(
  db: Queryable,
  { jobId, linkId }: Pick<LinkToken, 'jobId' | 'linkId'>,
): Promise<OpenedLink | null> {
  const names = [linkStep(linkId), linkEndStep(linkId)];
  const [row] = await db.run(FIND, [shardOfJobId(jobId), jobId, ...names]);
  if (!row?.tenant || row.key === null || !row.state || row.linkJson === null) return null;
  const { tenant, key: definitionKey, state, linkJson, endJson, endedAt } = row;
  const link = opened(db, tenant, linkJson);
  const end = endJson === null || !endedAt ? null : endOf(db, tenant, endJson, endedAt);
  return link && { tenant, jobId, linkId, definitionKey, state, link, end };
}

function opened(db: Queryable, tenant: string, json: string): SignalLink | null {
  return storedLink(JSON.parse(db.vault.open(tenant, json)));
}

function endOf(db: Queryable, tenant: string, json: string, at: Date): LinkEnd {
  return { how: JSON.parse(db.vault.open(tenant, json)) === 'used' ? 'used' : 'revoked', at };
}
