import { type Queryable, statement } from '../connection/db.ts';

const READ = statement<{ key: string; paths: string[] }>(
  'redact_paths',
  `select d.key, array_agg(distinct p.path) as paths from longshore.definition d
   cross join lateral jsonb_array_elements_text(
     case when jsonb_typeof(d.info -> 'redact') = 'array' then d.info -> 'redact' else '[]' end
   ) as p(path)
   group by d.key`,
);

/**
 * The paths that definitions hide, by their key: those of all versions together, because hiding
 * more is harmless.
 */
export async function readRedactPaths(
  db: Queryable,
): Promise<ReadonlyMap<string, readonly string[]>> {
  return new Map((await db.run(READ)).map(({ key, paths }) => [key, paths]));
}
