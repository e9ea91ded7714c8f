import type { Job, Longshore, PublishedDefinition, Schedule } from '../client/index.ts';
import { NotFound } from '../client/index.ts';
import { newestVersions } from '../core/definition/owners.ts';
import { isJobId } from '../core/job/job-id.ts';
import { hasIdPart, ID_PART_MIN, idPart } from '../core/job/short-id.ts';
import { isScheduleId } from '../core/schedule/schedule-id.ts';
import { unknownName } from '../core/values/nearest.ts';
import { ToolError } from './tool.ts';

/** The id of a job by its whole id, or by a beginning or end that no other job has. */
export async function findJob(client: Longshore, typed: string): Promise<string> {
  if (isJobId(typed)) return typed;
  const part = idPart(typed);
  const jobs = part === null ? [] : (await client.list({ id: part })).jobs;
  const [first, ...more] = jobs.filter(({ jobId }) => hasIdPart(jobId, part ?? ''));
  if (first && more.length === 0) return first.jobId;
  if (!first) {
    const hint = `give the whole id, or ${ID_PART_MIN} or more characters of its beginning or end`;
    throw new ToolError(`No job has the id "${typed}": ${hint}. list_jobs finds jobs.`);
  }
  const ids = [first, ...more].map(({ jobId, definitionKey }) => `${jobId} (${definitionKey})`);
  throw new ToolError(`Several ids match "${typed}": ${ids.join(', ')}`);
}

/** Null when it has been deleted. */
export async function jobIfAny(client: Longshore, jobId: string): Promise<Job | null> {
  return await client.get(jobId).catch((error: unknown) => {
    if (error instanceof NotFound) return null;
    throw error;
  });
}

/** By its id or its name. */
export async function findSchedule(client: Longshore, typed: string): Promise<Schedule> {
  if (isScheduleId(typed)) return await client.schedules.get(typed);
  const { schedules } = await client.schedules.list({ name: typed });
  const [first, ...more] = schedules;
  if (first && more.length === 0) return first;
  if (!first) {
    throw new ToolError(`No schedule is named "${typed}". list_schedules has ids and names.`);
  }
  const ids = schedules.map(({ id, definitionKey }) => `${id} (${definitionKey})`);
  throw new ToolError(`Several schedules are named "${typed}", use an id: ${ids.join(', ')}`);
}

export function findDefinition(
  definitions: readonly PublishedDefinition[],
  key: string,
): PublishedDefinition {
  const all = newestVersions(definitions);
  const found = all.find((one) => one.key === key);
  if (found) return found;
  const known = all.map((one) => one.key);
  throw new ToolError(unknownName('definition', key, known));
}
