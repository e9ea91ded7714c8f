import type { ChangeResult } from '../../core/job/change-result.ts';
import { isJobId, shardOfJobId } from '../../core/job/job-id.ts';
import { isTerminal, type JobState, type JobView } from '../../core/job/job.ts';
import { linkEndStep } from '../../core/signal/signal-link.ts';
import { signalStep, timeoutStep, type Wait, waitStep } from '../../core/job/signal.ts';
import { changeRefusal } from '../../core/job/system-job.ts';
import { canonicalJson } from '../../core/values/canonical-json.ts';
import { isRecord } from '../../core/values/record.ts';
import { type Actor, audit } from '../access/audit.ts';
import { type Resumed, resumeJobs } from '../claim/resume.ts';
import { inTransaction, type Queryable, statement } from '../connection/db.ts';
import { withPartitions } from '../connection/partitions.ts';
import { sendWakeHint } from '../connection/wake.ts';
import { permit } from '../limits/limiters.ts';

export type SignalResult =
  | Exclude<ChangeResult, { kind: 'taken' | 'changed' }>
  | { kind: 'stored'; status: JobState; duplicate: boolean }
  /** The job has this signal already, with another payload. */
  | { kind: 'different' }
  /** The wait for it has timed out. */
  | { kind: 'late' }
  /** The link was used or revoked. */
  | { kind: 'link-ended' };

export interface Signal {
  name: string;
  payloadJson: string;
  /** The link that sends it, which ends with it. */
  linkId?: string | undefined;
}

/** The lock: see `store/claim/resume.ts`. */
export const LOCK_SIGNALLED = statement<{ state: JobState | null; claim: number; key: string }>(
  'lock_signalled_job',
  `select coalesce(
     (select state from longshore.waiting where shard = $1 and id = $2),
     (select state from longshore.running where shard = $1 and id = $2),
     (select state from longshore.done where shard = $1 and id = $2)) as state,
     coalesce((select claim_no from longshore.waiting where shard = $1 and id = $2),
       (select claim_no from longshore.running where shard = $1 and id = $2), 0) as claim,
     (select key from longshore.queue q where q.shard = $1 and q.queue = j.queue) as key
   from longshore.job j
   where j.shard = $1 and j.id = $2
     and (select tenant from longshore.queue q where q.shard = $1 and q.queue = j.queue) = $3
   for no key update of j`,
);

export const STORE_SIGNAL = statement<{ name: string }>(
  'store_signal',
  `insert into longshore.step (shard, job_id, claim_no, name, at, value)
   values ($1, $2, $3, $4, clock_timestamp(), $5::json)
   on conflict (shard, job_id, name) do nothing returning name`,
);

export const READ_STEP = statement<{ valueJson: string }>(
  'read_one_step',
  `select value::text as "valueJson" from longshore.step
   where shard = $1 and job_id = $2 and name = $3`,
);

/**
 * Stores a signal, and queues the job if it waits for it. A signal is stored once: the same payload
 * again changes nothing, another one is refused.
 */
export async function signalJob(
  db: Queryable,
  tenant: string,
  jobId: string,
  signal: Signal,
  by: Actor | null = null,
): Promise<SignalResult> {
  if (!isJobId(jobId)) return { kind: 'missing' };
  const shard = shardOfJobId(jobId);
  const { answer, resumed } = await withPartitions(db, async () =>
    inTransaction(db, async (tx) => {
      const done = await store(tx, tenant, jobId, signal);
      const entry = {
        tenant,
        action: 'job.signal',
        subject: jobId,
        after: { signal: signal.name, ...(signal.linkId && { link: signal.linkId }) },
      };
      if (by !== null && done.resumed !== null) await audit(tx, by, entry);
      return done;
    }),
  );
  if (resumed !== null) {
    const { levels } = await permit(db, shard, resumed.limiters);
    const hints = [...resumed.jobs.flatMap((job) => job.levels), ...levels];
    await sendWakeHint(db, hints).catch(() => undefined);
  }
  return answer;
}

/** `resumed` is null when nothing was stored. */
async function store(
  tx: Queryable,
  tenant: string,
  jobId: string,
  { name, payloadJson, linkId }: Signal,
): Promise<{ answer: SignalResult; resumed: Resumed | null }> {
  const refuse = (answer: SignalResult) => ({ answer, resumed: null });
  const shard = shardOfJobId(jobId);
  const [job] = await tx.run(LOCK_SIGNALLED, [shard, jobId, tenant]);
  if (!job?.state) return refuse({ kind: 'missing' });
  const why = changeRefusal(job.key, false);
  if (why !== null) return refuse({ kind: 'forbidden', why });
  const { state, claim } = job;
  if (linkId !== undefined) {
    const [ended] = await tx.run(READ_STEP, [shard, jobId, linkEndStep(linkId)]);
    if (ended) return refuse({ kind: 'link-ended' });
  }
  const [known] = await tx.run(READ_STEP, [shard, jobId, signalStep(name)]);
  if (known) {
    const same = isSameJson(tx.vault.open(tenant, known.valueJson), payloadJson);
    return refuse(
      same ? { kind: 'stored', status: state, duplicate: true } : { kind: 'different' },
    );
  }
  if (isTerminal(state)) return refuse({ kind: 'refused', status: state });
  const [late] = await tx.run(READ_STEP, [shard, jobId, timeoutStep(name)]);
  if (late) return refuse({ kind: 'late' });
  const value = tx.vault.seal(tenant, payloadJson);
  await tx.run(STORE_SIGNAL, [shard, jobId, claim, signalStep(name), value]);
  if (linkId !== undefined) {
    const used = tx.vault.seal(tenant, '"used"');
    await tx.run(STORE_SIGNAL, [shard, jobId, claim, linkEndStep(linkId), used]);
  }
  const resumed = await resumeJobs(tx, shard, [jobId]);
  const status = resumed.jobs.length > 0 ? 'queued' : state;
  return { answer: { kind: 'stored', status, duplicate: false }, resumed };
}

/** What the job stored about its wait for this signal; null when it has not waited for it yet. */
export async function readWait(
  db: Queryable,
  { tenant, jobId }: Pick<JobView, 'tenant' | 'jobId'>,
  name: string,
): Promise<Wait | null> {
  const [row] = await db.run(READ_STEP, [shardOfJobId(jobId), jobId, waitStep(name)]);
  if (!row) return null;
  const value: unknown = JSON.parse(db.vault.open(tenant, row.valueJson));
  return isRecord(value)
    ? { timeoutMs: Number(value['timeoutMs']), schema: value['schema'] }
    : null;
}

/** The order of the fields of objects does not count. */
function isSameJson(a: string, b: string): boolean {
  return canonicalJson(JSON.parse(a)) === canonicalJson(JSON.parse(b));
}
