import { searchOf } from '../../../core/search/search.ts';
import type { Unsearched } from '../../../core/search/unsearched.ts';
import type { Db } from '../../../store/connection/db.ts';
import { hasLargeParams } from '../../../store/large/has-large-params.ts';

/** What the words of a search do not reach, so that "no matches" can say so. */
export async function unsearchedBy(
  db: Db,
  tenant: string,
  q: string | undefined,
): Promise<Unsearched[]> {
  if (q === undefined || searchOf(q).words.length === 0) return [];
  const hasLarge = await hasLargeParams(db, tenant);
  return [
    ...(db.vault.keyIds.length > 0 ? (['encrypted'] as const) : []),
    ...(hasLarge ? (['large'] as const) : []),
  ];
}
