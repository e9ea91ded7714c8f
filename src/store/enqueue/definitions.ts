import type { DefinitionInfo } from '../../core/definition/definition.ts';
import { type Queryable, statement } from '../connection/db.ts';

export interface PublishedDefinition extends DefinitionInfo {
  publishedAt: string;
  /** The owner: `default` for definitions that all tenants share. */
  tenant: string;
  /** The deployment that brought it; null: a worker published it. */
  deployment: number | null;
}

const CODE_HASH_CHARS = 64;

const HAS_CHANGED = `(definition.info is distinct from excluded.info
  or definition.params_schema::text is distinct from excluded.params_schema::text)`;

/** Codes that workers started with within the last hour, newest first, each with its time. */
const LATE_CODES = `select one, nr
  from jsonb_array_elements(definition.codes) with ordinality as e(one, nr)
  where (one ->> 'at')::timestamptz > excluded.published_at - interval '1 hour'`;

/**
 * What a deployment wrote never changes. Other code is a new publication, as other rules are, except
 * if a worker has started with it within the last hour: workers with different code that start again
 * and again would publish each time. Workers with the code of the last one write nothing.
 */
const PUBLISH = statement<{ key: string }>(
  'publish_definitions',
  `insert into longshore.definition (key, version, info, params_schema, codes)
   select d.key, d.version, d.info, d.params_schema, case when d.code is null then '[]'
     else jsonb_build_array(jsonb_build_object('code', d.code, 'at', clock_timestamp())) end
   from json_to_recordset($1::json)
     as d(key text, version int, info jsonb, params_schema json, code text)
   order by d.key, d.version
   on conflict (key, version) do update
     set info = excluded.info, params_schema = excluded.params_schema,
       published_at = case when ${HAS_CHANGED} or excluded.codes -> 0 ->> 'code' <> all (
           select one ->> 'code' from (${LATE_CODES}) late
         ) then excluded.published_at else definition.published_at end,
       codes = case when excluded.codes = '[]' then definition.codes else excluded.codes
         || coalesce((
           select jsonb_agg(one order by nr) from (${LATE_CODES} limit 9) late
           where one ->> 'code' <> excluded.codes -> 0 ->> 'code'
         ), '[]') end
     where definition.deployment is null and (${HAS_CHANGED} or excluded.codes <> '[]'
       and definition.codes -> 0 ->> 'code' is distinct from excluded.codes -> 0 ->> 'code')
   returning key`,
);

const LIST = statement<{
  info: DefinitionInfo;
  params_schema: DefinitionInfo['paramsSchema'];
  published_at: Date;
  tenant: string;
  deployment: number | null;
}>(
  'list_definitions',
  `select info, params_schema, published_at, tenant, deployment from longshore.definition
   order by key, version`,
);

/** Publishes the definitions that a worker has loaded. The newest publisher of a version wins. */
export async function publishDefinitions(
  db: Queryable,
  definitions: readonly DefinitionInfo[],
): Promise<void> {
  const rows = definitions.map(({ codeHash, ...info }) => ({
    key: info.key,
    version: info.version,
    info,
    params_schema: info.paramsSchema,
    // A worker over HTTP sends what it likes.
    code: typeof codeHash === 'string' ? codeHash.slice(0, CODE_HASH_CHARS) : null,
  }));
  await db.run(PUBLISH, [JSON.stringify(rows)]);
}

export async function listDefinitions(db: Queryable): Promise<PublishedDefinition[]> {
  const rows = await db.run(LIST);
  return rows.map((row) => ({
    ...row.info,
    paramsSchema: row.params_schema ?? row.info.paramsSchema,
    publishedAt: row.published_at.toISOString(),
    tenant: row.tenant,
    deployment: row.deployment,
  }));
}
