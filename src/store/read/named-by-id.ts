import type { JobCriteria } from '../../core/job/job-criteria.ts';
import { idPart } from '../../core/job/short-id.ts';
import { type Search, searchOf } from '../../core/search/search.ts';
import type { Db } from '../connection/db.ts';
import { idsByPart } from './find-by-id-part.ts';

/** A shorter bare word is rather a text or a number. */
const ID_WORD_MIN = 8;

/**
 * A search for a part of an id is answered from the index of ids, if that finds a job. So `id:` and
 * a bare word of many hex digits find an old job at once. Other criteria apply to it as well.
 */
export async function namedById(
  db: Db,
  tenant: string,
  criteria: JobCriteria,
): Promise<JobCriteria> {
  const part = criteria.jobIds === null ? partOf(searchOf(criteria.q)) : null;
  if (part === null) return criteria;
  const jobIds = await idsByPart(db, tenant, part);
  return jobIds.length === 0 ? criteria : { ...criteria, jobIds };
}

function partOf({ id, words }: Search): string | null {
  if (id !== null) return id;
  const parts = words.map(({ text, quoted }) => (quoted ? null : idPart(text)));
  return parts.find((part) => part !== null && part.length >= ID_WORD_MIN) ?? null;
}
