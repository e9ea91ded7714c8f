import { batchResult } from '../../../../src/core/batch/batch.ts';
import type { WantedJob } from '../../../history/history.ts';
import { type Batch, batchesOf, endOf } from '../../batches.ts';
import type { Facts } from '../../facts.ts';
import { invariant } from '../../invariant.ts';
import type { JobRecord } from '../../job-records.ts';

type BySha = ReadonlyMap<string, JobRecord[]>;

/** Clients say what they asked for, the database says what ended when, and callbacks say what they heard. */
export const batches = invariant(
  'S32',
  'A batch has each acknowledged job once, ends once all of them have ended and not before, and then runs each of its callbacks as one job; onSuccess only if all succeeded.',
  function* (facts) {
    const stored = storedBySha(facts);
    for (const batch of batchesOf(facts)) {
      const { wanted, records, ids } = batch;
      const [record] = records;
      if (records.length > 1) yield { text: `${wanted.name} was made ${records.length} times` };
      else if (ids.length > 1) yield { text: `${wanted.name} was answered with ${ids.join(', ')}` };
      else if (record) {
        for (const text of wrongWith(facts, batch, record, stored)) yield { job: record.id, text };
      } else if (ids.length > 0)
        yield { text: `${wanted.name} was acknowledged, and is not stored` };
    }
  },
);

function storedBySha({ records }: Facts): BySha {
  const jobs = [...records.values()].filter(({ final }) => final?.schedule === null);
  return Map.groupBy(jobs, ({ final }) => final?.paramsSha ?? '');
}

function* wrongWith(
  facts: Facts,
  batch: Batch,
  record: JobRecord,
  stored: BySha,
): Generator<string> {
  yield* wrongJobs(batch, stored);
  yield* wrongEnd(facts, batch, record);
  const { onComplete, onSuccess } = batch.wanted;
  if (onComplete) yield* wrongCallback('onComplete', onComplete, record, stored);
  if (onSuccess) yield* wrongCallback('onSuccess', onSuccess, record, stored);
}

/** Looked up one by one: a job that is there twice must not make up for a lost one. */
function* wrongJobs({ jobs, members, doubled }: Batch, stored: BySha): Generator<string> {
  const own = new Set<string>();
  for (const { wanted, acknowledged } of jobs) {
    const found = stored.get(wanted.paramsSha) ?? [];
    for (const { id } of found) own.add(id);
    if (found.length > 1) {
      yield `has a job ${found.length} times: ${found.map(({ id }) => id).join(', ')}`;
    }
    if (found.length === 0 && acknowledged) yield 'has lost a job that was acknowledged';
    const stray = found.find(({ id }) => !members.has(id));
    if (stray) yield `does not wait for its job ${stray.id}`;
  }
  if (doubled > 0) yield `counts ${doubled} of its jobs more than once`;
  for (const id of members.keys()) if (!own.has(id)) yield `has job ${id}, which is not its own`;
}

function* wrongEnd(
  { records }: Facts,
  { members, cancels }: Batch,
  record: JobRecord,
): Generator<string> {
  const ends = [...members].map(([id, known]) => ({ id, known, end: endOf(records.get(id)) }));
  const end = endOf(record);
  if (!end) {
    const open = ends.find((one) => one.end === null);
    yield open
      ? `has not ended, and neither has its job ${open.id}`
      : 'still waits, and all of its jobs have ended';
    return;
  }
  for (const { id, known, end: mine } of ends) {
    if (mine === null) yield `has ended, and its job ${id} has not`;
    else if (mine.seq > end.seq) yield `ended before its job ${id}`;
    else if (mine.state !== known) yield `takes its job ${id} for ${known}, and it ${mine.state}`;
  }
  const answered = cancels.some(({ jobs }) => jobs[0]?.status === 'cancelled');
  if (answered && end.state !== 'cancelled') yield `was answered cancelled, and ${end.state}`;
  const counted = (state: string) => ends.filter((one) => one.end?.state === state).length;
  const [succeeded, failed] = [counted('succeeded'), counted('failed')];
  const counts = {
    total: ends.length,
    pending: 0,
    succeeded,
    failed,
    cancelled: counted('cancelled'),
  };
  const stored = record.final?.batchResult ?? null;
  const isCounted = stored === JSON.stringify(batchResult(counts));
  // S17 says whether a cancel was asked for. A batch that a worker held then has no counts.
  if (end.state === 'cancelled') {
    if (stored !== null && !isCounted) yield 'has other counts stored than its jobs have';
    return;
  }
  const should = succeeded === ends.length ? 'succeeded' : 'failed';
  if (end.state !== should) yield `${end.state}, and ${succeeded} of ${ends.length} jobs succeeded`;
  else if (should === 'succeeded' && !isCounted) {
    yield 'has other counts stored than its jobs have';
  }
}

function* wrongCallback(
  name: 'onComplete' | 'onSuccess',
  { paramsSha }: WantedJob,
  record: JobRecord,
  stored: BySha,
): Generator<string> {
  const [job, ...more] = stored.get(paramsSha) ?? [];
  if (!job) return yield `has no ${name}`;
  if (more.length > 0) return yield `has ${name} ${more.length + 1} times`;
  const end = endOf(record);
  const [first] = job.claims;
  const due = name === 'onComplete' || end?.state === 'succeeded';
  if (first && (end === null || first.seq < end.seq)) yield `${name} ran before its end`;
  else if (first && !due) yield `${name} ran although it ${end?.state}`;
  else if (end && due && job.final?.state !== 'succeeded') {
    yield `${name} is ${job.final?.state} (${job.final?.errorCode})`;
  } else if (end && !due && job.final?.errorCode !== 'PARENT_FAILED') {
    yield `${name} is ${job.final?.state}, and it ${end.state}`;
  }
  const told = job.executions.flatMap(({ effects }) => effects.flatMap((one) => one.batch ?? []));
  const wrong = told.find(({ id, state }) => id !== record.id || state !== end?.state);
  if (wrong) yield `${name} got to know that ${wrong.id} ${wrong.state}, and it ${end?.state}`;
}
