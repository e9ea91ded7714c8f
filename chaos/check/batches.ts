import type { Micros, WantedBatch, WantedJob } from '../history/history.ts';
import type { Facts } from './facts.ts';
import type { JobRecord } from './job-records.ts';
import type { Operation } from './operations.ts';

/** A batch that clients asked for, and what became of it. */
export interface Batch {
  wanted: WantedBatch;
  /** The jobs of the system that it is; a sound one is one. */
  records: JobRecord[];
  /** The ids that answers gave for it. */
  ids: string[];
  jobs: AskedJob[];
  /** The ids of the jobs that it has at the end, with the end that it knows of each. */
  members: Map<string, string | null>;
  /** How many entries it has beside one for each of them. */
  doubled: number;
  cancels: Operation[];
}

/** A job of a batch, as it was asked for. */
export interface AskedJob {
  wanted: WantedJob;
  /** A server has acknowledged it. */
  acknowledged: boolean;
}

export function batchesOf({ operations, records, history }: Facts): Batch[] {
  const stored = Map.groupBy(
    [...records.values()].filter(({ final }) => (final?.batch ?? null) !== null),
    ({ final }) => final?.batch ?? '',
  );
  const edges = Map.groupBy(history.members, ({ batch }) => batch);
  const changes = Map.groupBy(operations, ({ call }) => ('batch' in call ? idIn(call) : ''));
  const asked = Map.groupBy(operations, ({ call }) =>
    call.name === 'batch' ? call.batch.name : '',
  );
  asked.delete('');
  return [...asked].flatMap(([name, requests]) => {
    const [first] = requests;
    if (first?.call.name !== 'batch') return [];
    const own = stored.get(name) ?? [];
    const oks = requests.filter(({ result }) => result === 'ok');
    const ids = [...new Set(oks.flatMap(({ jobs }) => jobs.map(({ id }) => id)))];
    const later = [...new Set([...ids, ...own.map(({ id }) => id)])].flatMap(
      (id) => changes.get(id) ?? [],
    );
    const adds = later.filter(({ call }) => call.name === 'add');
    const members = own.flatMap(({ id }) => edges.get(id) ?? []);
    const seen = new Map(members.map(({ job, ended }) => [job, ended]));
    return [
      {
        wanted: first.call.batch,
        records: own,
        ids,
        jobs: jobsOf([...requests, ...adds]),
        members: seen,
        doubled: members.length - seen.size,
        cancels: later.filter(({ call }) => call.name === 'cancel-batch'),
      },
    ];
  });
}

function idIn(call: { batch: unknown }): string {
  return typeof call.batch === 'string' ? call.batch : '';
}

function jobsOf(operations: readonly Operation[]): AskedJob[] {
  const jobs = new Map<string, AskedJob>();
  for (const { call, result } of operations) {
    const asked = call.name === 'batch' ? call.batch.jobs : call.name === 'add' ? call.jobs : [];
    for (const wanted of asked) {
      const known = jobs.get(wanted.paramsSha);
      const acknowledged = result === 'ok' || (known?.acknowledged ?? false);
      jobs.set(wanted.paramsSha, { wanted, acknowledged });
    }
  }
  return [...jobs.values()];
}

/** Where the end of a job stands in the order of all moves; null while it has not ended. */
export function endOf(
  record: JobRecord | undefined,
): { seq: number; at: Micros; state: string } | null {
  const end = record?.moves.findLast(({ to }) => to?.place === 'done');
  return end?.to ? { seq: end.seq, at: end.at, state: end.to.state } : null;
}
