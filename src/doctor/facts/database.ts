import { join } from 'node:path';
import { maskUrl } from '../../config/mask.ts';
import type { Config } from '../../config/config.ts';
import { EmbeddedPostgresError } from '../../postgres/error.ts';
import { inspectCluster } from '../../postgres/inspect-cluster.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { anyKey } from '../../store/access/credentials.ts';
import { Db } from '../../store/connection/db.ts';
import { listFiring } from '../../store/alerts/fire-alerts.ts';
import { type SchemaState, schemaState } from '../../store/connection/schema-state.ts';
import { serverClock, type ServerFacts, serverFacts } from '../../store/connection/server-facts.ts';
import { inspectServer, type ServerReport } from '../../store/connection/server-version.ts';
import type { AlertFacts } from '../alerts.ts';
import type { ClockFacts } from '../clock.ts';
import type { Reach } from '../database.ts';
import { troubleOf } from './trouble.ts';

/** Maximum number of alerts to list. */
const ALERTS_SHOWN = 3;

/** Facts that need a connection. */
export interface DatabaseFacts extends ServerReport, ServerFacts {
  /** Or the error message. */
  schema: SchemaState | string;
  clock: ClockFacts;
  hasKey: boolean;
  /** Null if the schema of an earlier release has no alerts. */
  alerts: AlertFacts | null;
}

export interface DatabaseInspection {
  reach: Reach;
  facts: DatabaseFacts | null;
}

/** Reads facts of the database that a server with these settings would use. Changes nothing. */
export async function inspectDatabase(
  config: Config,
  clock: Clock,
  log: Log,
): Promise<DatabaseInspection> {
  const located = await locate(config);
  if (!('url' in located)) return { reach: located, facts: null };
  const { url, where } = located;
  try {
    const facts = await factsOf(url, config, clock, log);
    return { reach: { state: 'reached', where }, facts };
  } catch (error) {
    return { reach: { state: 'unreachable', where, ...troubleOf(error) }, facts: null };
  }
}

async function locate({
  databaseUrl,
  data,
}: Config): Promise<Reach | { url: string; where: string }> {
  if (databaseUrl !== null) return { url: databaseUrl, where: maskUrl(databaseUrl) };
  const folder = join(data, 'pg');
  try {
    const cluster = await inspectCluster(data);
    if (cluster.state === 'running') return { url: cluster.url, where: `embedded, ${folder}` };
    return { ...cluster, folder };
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) return { state: 'refused', message: error.message };
    const { reason } = troubleOf(error);
    return { state: 'refused', message: `${reason}: choose another folder with LONGSHORE_DATA` };
  }
}

async function factsOf(
  url: string,
  { pooler, shards }: Config,
  clock: Clock,
  log: Log,
): Promise<DatabaseFacts> {
  const report = await inspectServer({ url, pooler, log, clock });
  const db = Db.open({
    url,
    pooler,
    log,
    clock,
    shards,
    max: 1,
    applicationName: 'longshore doctor',
  });
  try {
    const server = await serverFacts(db);
    const schema = await schemaState(db, shards).catch((error: unknown) => troubleOf(error).reason);
    // The schema of an earlier release has no keys.
    const hasKey = await anyKey(db).catch(() => false);
    const alerts = await listFiring(db, ALERTS_SHOWN).catch(() => null);
    const clocks = await compareClocks(db, clock);
    return { ...report, ...server, schema, hasKey, alerts, clock: clocks };
  } finally {
    await db.close();
  }
}

/** The connection is already open, so the query is fast and the result precise. */
async function compareClocks(db: Db, clock: Clock): Promise<ClockFacts> {
  const beforeMs = clock.now().getTime();
  const databaseMs = await serverClock(db);
  // Our clock has millisecond resolution.
  return { beforeMs, databaseMs, afterMs: clock.now().getTime() + 1 };
}
