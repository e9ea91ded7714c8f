import { tmpdir } from 'node:os';
import type { Config } from '../config/config.ts';
import { judgeAlerts } from '../doctor/alerts.ts';
import { judgeSigning, judgeStorage } from '../doctor/artifacts.ts';
import type { Check } from '../doctor/check.ts';
import { judgeClock } from '../doctor/clock.ts';
import { judgeDatabase } from '../doctor/database.ts';
import { judgeDefinitions } from '../doctor/definitions.ts';
import { judgeDurability } from '../doctor/durability.ts';
import { judgeEncryption } from '../doctor/encryption.ts';
import { inspectSigning, inspectStorage } from '../doctor/facts/artifacts.ts';
import { keyIdsOf } from '../doctor/facts/encryption.ts';
import { type DatabaseFacts, inspectDatabase } from '../doctor/facts/database.ts';
import { inspectFolder } from '../doctor/facts/folder.ts';
import { inspectPort } from '../doctor/facts/port.ts';
import { inspectBrokers } from '../doctor/facts/brokers.ts';
import { inspectRedis } from '../doctor/facts/redis.ts';
import { inspectSignIn } from '../doctor/facts/sign-in.ts';
import { inspectRunner } from '../doctor/facts/start-check.ts';
import { judgeEscapes } from '../doctor/escapes.ts';
import { inspectEscapes } from '../doctor/facts/escapes.ts';
import { judgeFolder } from '../doctor/folder.ts';
import { judgeIsolation } from '../doctor/isolation.ts';
import { judgeMemoryLimits } from '../doctor/memory-limits.ts';
import { judgeMigrations, unreadableMigrations } from '../doctor/migrations.ts';
import { judgeNode } from '../doctor/node.ts';
import { judgePermissions } from '../doctor/permissions.ts';
import { judgePort } from '../doctor/port.ts';
import { judgePostgresVersion } from '../doctor/postgres-version.ts';
import { judgeBrokers } from '../doctor/brokers.ts';
import { judgeRedis } from '../doctor/redis.ts';
import { judgeRunnerUser } from '../doctor/runner-user.ts';
import { judgeSignIn } from '../doctor/sign-in.ts';
import { judgeSessionSettings } from '../doctor/session-settings.ts';
import { localSignIn } from './identity/local-sign-in.ts';
import { memoryMethod } from '../runtime/processes/cgroup.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';

export type { Check } from '../doctor/check.ts';

export interface DiagnoseOptions {
  /** False: skip the probe job that tries to escape, which takes seconds. */
  probe?: boolean;
}

/**
 * Implements `longshore doctor`: checks everything that a server with these settings needs. It
 * changes nothing: it migrates nothing and starts no database, and the processes that it starts, to
 * load the definitions and to try escapes, are gone at the end, as is the object that it stores. What cannot be checked, such as the
 * schema of a database that does not answer, is left out.
 */
export async function diagnose(
  config: Config,
  log: Log,
  { probe = true }: DiagnoseOptions = {},
): Promise<Check[]> {
  const database = await inspectDatabase(config, systemClock, log);
  const { isolation, user, definitions } = await inspectRunner(config, systemClock, log);
  const { databaseUrl, data, redisUrl, brokers, runnerUids, host, port } = config;
  const signIn = localSignIn(config);
  const hasKey = signIn !== null || (database.facts?.hasKey ?? false);
  const server = await inspectPort(host, port, hasKey);
  const isOpen = server.state === 'longshore' && !hasKey;
  const escapes = probe ? await inspectEscapes(config, isOpen, systemClock, log) : null;
  return [
    judgeNode(process.versions.node),
    judgeDatabase(database.reach),
    ...(database.facts ? judgeServer(database.facts, config) : []),
    ...(redisUrl === null ? [] : [judgeRedis(await inspectRedis(redisUrl, log))]),
    ...(brokers === null ? [] : [judgeBrokers(await inspectBrokers(brokers))]),
    ...(signIn === null ? [] : [judgeSignIn(await inspectSignIn(signIn, config))]),
    ...(databaseUrl === null ? [judgeFolder('data-folder', await inspectFolder(data))] : []),
    judgeFolder('temp-folder', await inspectFolder(tmpdir())),
    judgeMemoryLimits(memoryMethod()),
    ...(isolation ? [judgeIsolation(isolation)] : []),
    ...(escapes ? [judgeEscapes(escapes)] : []),
    judgeRunnerUser({ setting: runnerUids, ownUid: process.getuid?.() ?? null, ...user }),
    judgeDefinitions(definitions),
    judgeEncryption(keyIdsOf(config.encryptionKeys)),
    judgeStorage(await inspectStorage(config.artifacts)),
    judgeSigning(inspectSigning(config.artifactKeys)),
    judgePort(server),
  ];
}

function judgeServer(facts: DatabaseFacts, { pooler }: Config): Check[] {
  const { schema } = facts;
  return [
    judgePostgresVersion(facts.version),
    judgeSessionSettings({ ...facts, pooler }),
    judgeDurability(facts),
    judgePermissions(facts),
    typeof schema === 'string' ? unreadableMigrations(schema) : judgeMigrations(schema),
    judgeClock(facts.clock),
    ...(facts.alerts ? [judgeAlerts(facts.alerts)] : []),
  ];
}
