import type { Command } from 'commander';
import { type ApiKey, type KeyOptions, type NewKey, ProblemError } from '../../client/index.ts';
import { DEFAULT_TENANT } from '../../core/access/scope.ts';
import type { AppModule, Cli } from '../cli.ts';
import { clientOf, configOf } from '../session.ts';

/** Operations of `longshore keys`, through a server or its database. */
export interface KeyAccess {
  /** The database that the command opened; null where a server was asked. */
  opened: { database: string; isServed: boolean } | null;
  create(options: KeyOptions): Promise<NewKey>;
  list(): Promise<ApiKey[]>;
  rotate(keyId: string, options: { overlapSeconds: number }): Promise<NewKey>;
  revoke(keyId: string): Promise<void>;
}

type Desk = Parameters<Parameters<AppModule['withKeyDesk']>[3]>[0];

/**
 * Uses the server if a URL was given. Otherwise opens the database, because a server cannot create
 * its first key; only `create` may create the embedded cluster, in a folder that was named.
 */
export async function withKeys<T>(
  cli: Cli,
  command: Command,
  { makesCluster }: { makesCluster: boolean },
  work: (keys: KeyAccess) => Promise<T>,
): Promise<T> {
  if (configOf(cli, command, 'client').origins.url !== 'default') {
    const { keys } = clientOf(cli, command);
    return await work({
      opened: null,
      create: async (options) => await keys.create(options),
      list: async () => await keys.list(),
      rotate: async (keyId, options) => await keys.rotate(keyId, options),
      revoke: async (keyId) => await keys.revoke(keyId),
    });
  }
  const { config, origins } = configOf(cli, command, 'server');
  const { createLog } = await import('../../runtime/log.ts');
  const { withKeyDesk } = await cli.loadApp();
  const log = createLog(origins.logLevel === 'default' ? 'warn' : config.logLevel);
  const tenant = config.tenant ?? DEFAULT_TENANT;
  // A folder that the user did not name may be the wrong one: there would be a key, but for no server.
  const makes = makesCluster && origins.data !== 'default';
  return await withKeyDesk(config, log, { makesCluster: makes }, async (desk) =>
    work(inDatabase(desk, tenant)),
  );
}

/** Throws the same errors as a server. */
function inDatabase(desk: Desk, tenant: string): KeyAccess {
  const { database, isServed } = desk;
  return {
    opened: { database, isServed },
    create: async ({ expiresAt = null, ...request }) => {
      const expires = typeof expiresAt === 'string' ? new Date(expiresAt) : expiresAt;
      return await desk.create({ tenant, ...request, expiresAt: expires });
    },
    list: async () => await desk.list(tenant),
    rotate: async (keyId, { overlapSeconds }) => {
      const made = await desk.rotate(tenant, keyId, overlapSeconds * 1_000);
      if (made === null) throw noSuchKey(keyId);
      if (typeof made === 'string') throw new ProblemError(409, 'CONFLICT', `the key is ${made}`);
      return made;
    },
    revoke: async (keyId) => {
      if (!(await desk.revoke(tenant, keyId))) throw noSuchKey(keyId);
    },
  };
}

function noSuchKey(keyId: string): ProblemError {
  return new ProblemError(404, 'NOT_FOUND', `key "${keyId}" not found`);
}
