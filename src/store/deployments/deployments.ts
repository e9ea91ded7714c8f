import type { DefinitionInfo } from '../../core/definition/definition.ts';
import { type Actor, audit } from '../access/audit.ts';
import { type Db, type Queryable, statement } from '../connection/db.ts';
import { notifyReleases } from '../connection/wake.ts';
import { endCanary, forgetReleases } from './releases.ts';

export interface Deployment {
  number: number;
  tenant: string;
  sha256: string;
  keys: string[];
  note: string | null;
  revision: string | null;
  createdBy: string;
  createdAt: Date;
  retiredAt: Date | null;
  bytes: string;
}

const COLUMNS = `d.number, d.tenant, d.sha256, d.keys, d.note, d.revision,
  d.created_by as "createdBy", d.created_at as "createdAt", d.retired_at as "retiredAt",
  a.bytes::text`;
const FROM = `longshore.deployment d
  join longshore.artifact a on a.tenant = d.tenant and a.sha256 = d.sha256`;

/** Numbers are given one after the other, so no two deployments get the same. */
const LOCK = statement<{ locked: string }>(
  'lock_deployments',
  "select pg_advisory_xact_lock(hashtextextended('longshore.deployment', 0))::text as locked",
);

/** Above every deployment, and above every version that workers published of these definitions. */
const NEXT_NUMBER = statement<{ number: number }>(
  'next_deployment_number',
  `select 1 + greatest((select max(number) from longshore.deployment),
     (select max(version) from longshore.definition where key = any ($1::text[])), 0) as number`,
);

const INSERT = statement<{ number: number }>(
  'insert_deployment',
  `insert into longshore.deployment
     (number, tenant, sha256, keys, note, revision, created_by, manifest)
   values ($1, $2, $3, $4, $5, $6, $7, $8::jsonb) returning number`,
);

const INSERT_DEFINITIONS = statement<{ key: string }>(
  'insert_deployed_definitions',
  `insert into longshore.definition (key, version, info, params_schema, tenant, deployment)
   select d.key, $2, d.info, d.params_schema, $3, $2
   from json_to_recordset($1::json) as d(key text, info jsonb, params_schema json)
   returning key`,
);

const FIND = statement<Deployment>(
  'find_deployment',
  `select ${COLUMNS} from ${FROM} where d.tenant = $1 and d.number = $2`,
);

const LIST = statement<Deployment>(
  'list_deployments',
  `select ${COLUMNS} from ${FROM}
   where d.tenant = $1 and d.number < coalesce($2, 2147483647) order by d.number desc limit $3`,
);

const INFOS = statement<{ info: DefinitionInfo }>(
  'deployed_definitions',
  'select info from longshore.definition where deployment = $1 order by key',
);

/** A retirement waits until the release is written, and ends it then. */
const HOLD = statement<{ number: number }>(
  'hold_deployment',
  `select number from longshore.deployment
   where tenant = $1 and number = $2 and retired_at is null for share`,
);

const RETIRE = statement<{ number: number }>(
  'retire_deployment',
  `update longshore.deployment set retired_at = clock_timestamp()
   where tenant = $1 and number = $2 and retired_at is null returning number`,
);

export interface NewDeployment {
  tenant: string;
  sha256: string;
  note: string | null;
  revision: string | null;
  /** The JSON of `longshore.json`. */
  manifest: unknown;
  /** Their version is set to the number of the deployment. */
  definitions: readonly DefinitionInfo[];
}

/** Creates a deployment and publishes its definitions. New jobs do not get it before a release. */
export async function createDeployment(
  tx: Queryable,
  by: Actor,
  { tenant, sha256, note, revision, manifest, definitions }: NewDeployment,
): Promise<number> {
  const keys = definitions.map(({ key }) => key);
  await tx.run(LOCK);
  const [next] = await tx.run(NEXT_NUMBER, [keys]);
  const number = next?.number ?? 1;
  const described = [keys, note, revision, by.name, JSON.stringify(manifest)];
  await tx.run(INSERT, [number, tenant, sha256, ...described]);
  const rows = definitions.map((info) => ({
    key: info.key,
    info: { ...info, version: number },
    params_schema: info.paramsSchema,
  }));
  await tx.run(INSERT_DEFINITIONS, [JSON.stringify(rows), number, tenant]);
  const after = { sha256, definitions: keys, note, revision };
  await audit(tx, by, { tenant, action: 'deployment.create', subject: String(number), after });
  return number;
}

export async function findDeployment(
  db: Queryable,
  tenant: string,
  number: number,
): Promise<Deployment | null> {
  return (await db.run(FIND, [tenant, number]))[0] ?? null;
}

/** The newest first. */
export async function listDeployments(
  db: Queryable,
  tenant: string,
  { before, limit }: { before: number | null; limit: number },
): Promise<Deployment[]> {
  return await db.run(LIST, [tenant, before, limit]);
}

export async function deployedDefinitions(
  db: Queryable,
  number: number,
): Promise<DefinitionInfo[]> {
  return (await db.run(INFOS, [number])).map(({ info }) => info);
}

/** Keeps it from being retired until the end of the transaction; false when it is retired. */
export async function holdDeployment(
  tx: Queryable,
  tenant: string,
  number: number,
): Promise<boolean> {
  return (await tx.run(HOLD, [tenant, number])).length > 0;
}

/** Workers stop serving it, and definitions whose current deployment it was have no release. */
export async function retireDeployment(
  db: Db,
  by: Actor,
  tenant: string,
  number: number,
): Promise<string[]> {
  const retired = await db.transaction(async (tx) => {
    const [row] = await tx.run(RETIRE, [tenant, number]);
    if (!row) return null;
    await endCanary(tx, by, tenant, number, 'the deployment was retired');
    const definitions = await forgetReleases(tx, tenant, number);
    const entry = { tenant, action: 'deployment.retire', subject: String(number) };
    await audit(tx, by, { ...entry, after: { definitions } });
    return definitions;
  });
  if (retired) await notifyReleases(db);
  return retired ?? [];
}
