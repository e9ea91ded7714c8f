import { expect } from 'vitest';
import type { JobState } from '../../../src/core/job/job.ts';
import { cancelJob } from '../../../src/store/change/cancel-job.ts';
import { claim, type ClaimedJob } from '../../../src/store/claim/claim.ts';
import type { Queryable } from '../../../src/store/connection/db.ts';
import type { TestDatabase } from '../servers/database.ts';
import { enqueueOne, failure, newWorker, settleAs, SUCCESS } from '../jobs.ts';

/** A job under test. It has a queue and a worker of its own, so that no other test moves it. */
export interface Subject {
  id: string;
  queue: number;
  worker: string;
  /** The claim that owns it, or the last one that did; null when it was never claimed. */
  job: ClaimedJob | null;
}

/** Its one narrow row, wherever that is. */
export interface NarrowRow {
  state: JobState;
  attempts: number;
  max_attempts: number;
  claim_no: number;
  interruptions: number;
}

const ENDS = {
  succeeded: SUCCESS,
  failed: failure('NOT_FOUND'),
  retrying: failure('TIMEOUT'),
  suspended: { kind: 'suspended', signal: 'go', timeoutMs: 3_600_000 },
} as const;

/** A job in this state, brought there by the product's own functions. */
export async function reachState(
  database: TestDatabase,
  state: JobState,
  maxAttempts = 3,
): Promise<Subject> {
  const worker = await newWorker(database);
  const id = await enqueueOne(database, {
    definitionKey: `key-${worker}`,
    maxAttempts,
    hold: state === 'created',
    delayMs: state === 'scheduled' ? 3_600_000 : null,
  });
  const [row] = await database.sql<{ queue: number }>(
    'select queue from longshore.job where id = $1',
    [id],
  );
  const subject: Subject = { id, queue: row?.queue ?? 0, worker, job: null };
  const claimed: JobState[] = [
    'running',
    'cancelling',
    'succeeded',
    'failed',
    'retrying',
    'suspended',
  ];
  if (claimed.includes(state)) subject.job = (await claimSubject(database, subject))[0] ?? null;
  if (state.startsWith('cancel')) await cancelJob(database.db, 'default', id);
  const outcome = ENDS[state as keyof typeof ENDS];
  if (outcome && subject.job) await settleAs(database, subject.job, outcome);
  expect((await lookAt(database, subject)).state).toBe(state);
  return subject;
}

/** A job that a claim owns, with that claim. */
export async function reachOwned(
  database: TestDatabase,
  maxAttempts = 3,
): Promise<Subject & { job: ClaimedJob }> {
  const subject = await reachState(database, 'running', maxAttempts);
  if (!subject.job) throw new Error('not claimed');
  return { ...subject, job: subject.job };
}

export async function claimSubject(
  { db }: { db: Queryable },
  { queue, worker }: Subject,
): Promise<ClaimedJob[]> {
  return await claim(db, 0, 1, worker, [{ queue, rank: 0, floor: 0, attempts: 3 }]);
}

export async function lookAt({ sql }: TestDatabase, { id }: Subject): Promise<NarrowRow> {
  const from = (table: string) =>
    `select state, attempts, max_attempts, claim_no, interruptions
     from longshore.${table} where id = $1`;
  const tables = ['waiting', 'running', 'done'].map(from);
  const rows = await sql<NarrowRow>(tables.join(' union all '), [id]);
  expect(rows).toHaveLength(1);
  return rows[0] as NarrowRow;
}
