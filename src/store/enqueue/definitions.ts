import type { DefinitionInfo } from '../../core/definition/definition.ts';
import { type Queryable, statement } from '../connection/db.ts';

export interface PublishedDefinition extends DefinitionInfo {
  publishedAt: string;
  /** The owner: `default` for definitions that all tenants share. */
  tenant: string;
  /** The deployment that brought it; null: a worker published it. */
  deployment: number | null;
}

/** What a deployment wrote never changes. */
const PUBLISH = statement<{ key: string }>(
  'publish_definitions',
  `insert into longshore.definition (key, version, info, params_schema)
   select d.key, d.version, d.info, d.params_schema
   from json_to_recordset($1::json) as d(key text, version int, info jsonb, params_schema json)
   order by d.key, d.version
   on conflict (key, version) do update
     set info = excluded.info, params_schema = excluded.params_schema,
       published_at = excluded.published_at
     where definition.deployment is null and (definition.info is distinct from excluded.info
       or definition.params_schema::text is distinct from excluded.params_schema::text)
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
  const rows = definitions.map((info) => ({
    key: info.key,
    version: info.version,
    info,
    params_schema: info.paramsSchema,
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
