import {
  askedText,
  CHILD_FIELDS,
  type ChildRequest,
  type SpawnedChild,
} from '../core/dependency/children.ts';
import type { JobRequest } from '../core/job/new-job.ts';
import { unknownName } from '../core/values/nearest.ts';
import { parseBatch } from '../protocol/requests/parse-job.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { Db } from '../store/connection/db.ts';
import { withPartitions } from '../store/connection/partitions.ts';
import {
  childHash,
  knownChildren,
  type ParentClaim,
  spawnChildren,
  TooManyChildren,
} from '../store/edges/spawn-children.ts';
import type { Enqueuer } from './enqueuer.ts';
import { QuotaExceeded } from './quotas.ts';
import { refusing } from './start-jobs.ts';

/** A claim that asks for children. */
export interface Spawning extends ParentClaim {
  tenant: string;
  traceparent: string | null;
}

export type SpawnAnswer = { problem: string } | { problem: null; spawned: SpawnedChild[] };

/**
 * Stores children of a running job, by the rules of any enqueue. Children that exist are neither
 * validated nor counted again. A refusal is an answer for the code of the job.
 */
export async function spawnJobs(
  db: Db,
  enqueuer: Enqueuer,
  parent: Spawning,
  children: readonly ChildRequest[],
): Promise<SpawnAnswer> {
  const names = children.map(({ name }) => name);
  const known = await knownChildren(db, parent, names);
  const fresh = children.filter(({ name }) => !known.has(name));
  try {
    return await store(db, enqueuer, parent, children, fresh);
  } catch (error) {
    const isAnswer =
      error instanceof Refusal ||
      error instanceof QuotaExceeded ||
      error instanceof TooManyChildren;
    if (!isAnswer) throw error;
    // The author knows children by their names, not by their place among the new ones.
    const named = error.message.replaceAll(/\/jobs\/(\d+)/g, (_, at) => {
      return `child ${fresh[Number(at)]?.name ?? ''} `;
    });
    return { problem: `spawn: ${named}` };
  }
}

async function store(
  db: Db,
  enqueuer: Enqueuer,
  parent: Spawning,
  children: readonly ChildRequest[],
  fresh: readonly ChildRequest[],
): Promise<SpawnAnswer> {
  const requests = requestsOf(fresh, parent, enqueuer.paramsMaxBytes);
  const admit = async () => await enqueuer.admit(requests);
  const admitted = await refusing(admit, (index) => `/jobs/${index}`);
  const entries = new Map(fresh.map(({ name }, index) => [name, admitted[index]]));
  const wanted = children.map(({ name, job }) => {
    const asked = childHash(askedText(job['definitionKey'], job['params']));
    return { name, asked, entry: entries.get(name) };
  });
  const stored = await withPartitions(
    db,
    async () => await db.transaction(async (tx) => await spawnChildren(tx, parent, wanted)),
  );
  if (stored === null) return { problem: 'this attempt no longer owns the job' };
  enqueuer.announce(stored.entries, stored.answers);
  const warnings = await warningsByName(enqueuer, requests, fresh);
  const spawned = stored.children.map((child, index) => {
    const warning = warnings.get(children[index]?.name ?? '');
    return warning === undefined ? child : { ...child, warning };
  });
  return { problem: null, spawned };
}

function requestsOf(
  children: readonly ChildRequest[],
  { tenant, traceparent }: Spawning,
  paramsMaxBytes: number,
): JobRequest[] {
  for (const { name, job } of children) {
    const field = Object.keys(job).find((one) => !CHILD_FIELDS.includes(one));
    if (field === undefined) continue;
    const why = unknownName('field of a child', field, CHILD_FIELDS);
    throw new Refusal('VALIDATION_FAILED', `child ${name}: ${why}`);
  }
  if (children.length === 0) return [];
  const jobs = children.map(({ job }) => job);
  const requests = parseBatch({ jobs }, tenant, undefined, paramsMaxBytes);
  return requests.map((request) => ({ ...request, traceparent }));
}

async function warningsByName(
  enqueuer: Enqueuer,
  requests: readonly JobRequest[],
  children: readonly ChildRequest[],
): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const [index, [warning]] of (await enqueuer.warnings(requests)).entries()) {
    const name = children[index]?.name;
    if (warning && name !== undefined) found.set(name, warning.detail);
  }
  return found;
}
