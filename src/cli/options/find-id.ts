import { type Longshore, NotFound } from '../../client/index.ts';
import { BATCH_KEY } from '../../core/batch/batch.ts';
import { isJobId } from '../../core/job/job-id.ts';
import { hasIdPart, ID_PART_MIN, idPart } from '../../core/job/short-id.ts';
import { isWorkerId } from '../../core/queue/worker.ts';
import { UsageError } from './usage-error.ts';

/** More candidates do not help to choose. */
const NAMED_MAX = 5;
/** The largest page of the server. */
const NEWEST = 200;

/** An id, and what tells it from others. */
export type NamedId = [id: string, about: string];

/** The id of the job that is named by its whole id, or by a beginning or end that no other has. */
export async function findJobId(client: Longshore, typed: string): Promise<string> {
  if (isJobId(typed)) return typed;
  return await findId('job', typed, async (part) => {
    const { jobs } = await client.list({ id: part });
    return jobs.map((job) => [job.jobId, `${job.definitionKey}, ${job.status}`]);
  });
}

export async function findBatchId(client: Longshore, typed: string): Promise<string> {
  if (isJobId(typed)) return typed;
  return await findId('batch', typed, async (part) => {
    const { jobs } = await client.list({ id: part, definitionKey: BATCH_KEY });
    return jobs.map((job) => [job.jobId, job.status]);
  });
}

export async function findWorkerId(client: Longshore, typed: string): Promise<string> {
  if (isWorkerId(typed)) return typed;
  return await findId('worker', typed, async () =>
    (await client.workers()).map((worker) => [worker.workerId, `${worker.host}, ${worker.status}`]),
  );
}

export async function findWebhookId(client: Longshore, typed: string): Promise<string> {
  if (isJobId(typed)) return typed;
  return await findId('webhook', typed, async () =>
    (await client.webhooks.list()).map(({ id, url }) => [id, url]),
  );
}

/** A short id is looked for among the newest firing alerts. */
export async function findAlertId(client: Longshore, typed: string): Promise<string> {
  if (isJobId(typed)) return typed;
  return await findId('firing alert', typed, async () => {
    const { alerts } = await client.alerts.list({ status: 'firing', limit: NEWEST });
    return alerts.map(({ id, rule, definitionKey }) => [id, `${rule}, ${definitionKey ?? '-'}`]);
  });
}

/** A short id is looked for among the newest actions. */
export async function findBulkId(client: Longshore, typed: string): Promise<string> {
  if (isJobId(typed)) return typed;
  return await findId('bulk action', typed, async () => {
    const { bulks } = await client.bulk.list({ limit: NEWEST });
    return bulks.map(({ bulkId, action, status }) => [bulkId, `${action}, ${status}`]);
  });
}

export async function findId(
  what: string,
  typed: string,
  candidates: (part: string) => Promise<NamedId[]>,
): Promise<string> {
  const part = idPart(typed);
  const all = part === null ? [] : await candidates(part);
  const found = all.filter(([id]) => part !== null && hasIdPart(id, part));
  const [first, ...more] = found;
  if (!first) throw notFound(what, typed);
  if (more.length === 0) return first[0];
  const named = found.slice(0, NAMED_MAX).map(([id, about]) => `${id} (${about})`);
  const rest = found.length > NAMED_MAX ? ' and others' : '';
  throw new UsageError(`several ${what} ids match "${typed}": ${named.join('; ')}${rest}`);
}

function notFound(what: string, typed: string): NotFound {
  const hint = `give the whole id, or ${ID_PART_MIN} or more characters of its beginning or end`;
  return new NotFound(404, 'NOT_FOUND', `${what} "${typed}" not found: ${hint}`);
}
