import { isTerminal } from '../../../../src/core/job/job.ts';
import type { Facts } from '../../facts.ts';
import { invariant } from '../../invariant.ts';
import { CLOCK_SLACK, type JobRecord, wantedChildren } from '../../job-records.ts';

/** A parent says whose outcomes it got; the database says when each child ended. */
export const children = invariant(
  'S31',
  'A job has each of its children once, goes on when all of them have ended and not before, and does not wait any longer.',
  function* (facts) {
    const stored = storedBySha(facts);
    for (const record of facts.records.values()) {
      if (!record.wanted?.spawns) continue;
      const shas = wantedChildren(record.wanted).map(({ paramsSha }) => paramsSha);
      const own = shas.map((paramsSha) => stored.get(paramsSha) ?? []);
      const text = wrongWith(facts, record, own);
      if (text !== null) yield { job: record.id, text };
    }
  },
);

function storedBySha({ records }: Facts): Map<string, JobRecord[]> {
  const stored = new Map<string, JobRecord[]>();
  for (const record of records.values()) {
    const { final } = record;
    if (final && final.schedule === null) {
      stored.set(final.paramsSha, [...(stored.get(final.paramsSha) ?? []), record]);
    }
  }
  return stored;
}

function wrongWith(facts: Facts, record: JobRecord, own: readonly JobRecord[][]): string | null {
  const { executions, final } = record;
  const twice = own.find((one) => one.length > 1);
  if (twice) return `has a child ${twice.length} times: ${twice.map(({ id }) => id).join(', ')}`;
  const joined = executions.flatMap(({ effects }) =>
    effects.filter(({ what }) => what === 'joined'),
  );
  for (const { at, jobs = [] } of joined) {
    if (jobs.length !== own.length) return `went on with ${jobs.length} of ${own.length} children`;
    for (const id of jobs) {
      const end = endOf(facts.records.get(id));
      if (end === null) return `went on, and its child ${id} has not ended`;
      if (end > at + CLOCK_SLACK) return `went on before its child ${id} ended`;
    }
  }
  if (final?.state === 'succeeded' && joined.length === 0) return 'went on without its children';
  const open = own.flat().find((child) => endOf(child) === null);
  if (open) return `its child ${open.id} is still ${open.final?.state ?? 'gone'}`;
  return final?.state === 'suspended' ? 'still waits, and all of its children have ended' : null;
}

function endOf(record: JobRecord | undefined): number | null {
  return record?.moves.find(({ to }) => to !== null && isTerminal(to.state))?.at ?? null;
}
